/* Example 1: names, addresses and bind.
 *
 * It teaches: what this host is called and what the resolver makes of that, and back; services'
 * names; byte order; that a socket has no name until it is bound; that port 0 lets the kernel
 * choose one; that `connect` binds too, and then to one address instead of all.
 *
 * The course has gethostbyname and gethostbyaddr, of IPv4 and one thread at a time. Since POSIX
 * 2001 they are getaddrinfo(3) and getnameinfo(3), of IPv6, too.
 *
 * What std hides: sockaddr, its families and lengths, byte order. What it does not have: names of
 * addresses and of services; a socket that is not bound.
 *
 * names [HOST] */
#include "course.h"

#include <sys/utsname.h>

/* All addresses of a host, and what the first one is called. */
static void addresses(const char *name)
{
    /* With a type, or each address would come three times: for TCP, UDP and raw sockets. */
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *all, *one;
    char text[72], back[256];
    int error = getaddrinfo(name, NULL, &hints, &all);

    if (error != 0) {
        printf("%s has no address: %s\n", name, gai_strerror(error));
        return;
    }
    for (one = all; one; one = one->ai_next)
        if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, NULL, 0,
                        NI_NUMERICHOST) == 0)
            printf("%s has the address %s\n", name, text);
    if (getnameinfo(all->ai_addr, all->ai_addrlen, text, sizeof text, NULL, 0,
                    NI_NUMERICHOST) == 0) {
        error = getnameinfo(all->ai_addr, all->ai_addrlen, back, sizeof back, NULL, 0, NI_NAMEREQD);
        printf("%s is called %s\n", text, error == 0 ? back : "nothing");
    }
    freeaddrinfo(all);
}

/* The port of a service, from /etc/services, as number and as bytes on the wire. */
static void service(const char *name)
{
    struct servent *entry = getservbyname(name, "tcp");

    if (!entry) {
        printf("no service is called %s: there may be no /etc/services\n", name);
        return;
    }
    in_port_t wire = (in_port_t)entry->s_port; /* an int, and yet in network byte order */
    unsigned char bytes[sizeof wire];
    memcpy(bytes, &wire, sizeof wire);
    printf("%s has port %d, on the wire %02x %02x\n", name, ntohs(wire), bytes[0], bytes[1]);
}

int main(int argc, char **argv)
{
    struct utsname own;
    char name[NAMED];

    prepare();
    if (uname(&own) < 0)
        fail("uname");
    printf("this host is called %s\n", own.nodename);
    addresses(argc > 1 ? argv[1] : own.nodename);
    service("daytime");
    uint16_t one = 1;
    printf("this machine is %s-endian\n", *(unsigned char *)&one == 1 ? "little" : "big");

    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0)
        fail("socket");
    printf("a new socket is called %s\n", name_of(fd, name));
    /* What the fields hold is sent as it is: hence htons and htonl. */
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    if (bind(fd, (struct sockaddr *)&any, sizeof any) < 0)
        fail("bind");
    printf("bound to any address and port 0 it is called %s\n", name_of(fd, name));
    struct sockaddr_in local = {.sin_family = AF_INET,
                                .sin_port = htons(9),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&local, sizeof local) < 0)
        fail("connect");
    printf("connected it is called %s\n", name_of(fd, name));
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
        fail("getpeername");
    printf("its peer is called %s\n", text_of(&peer, name));
    close(fd);
    return 0;
}
