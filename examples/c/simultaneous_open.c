/* An experiment: two ends that both connect, and neither listens (RFC 9293 section 3.5, figure 7).
 *
 * It teaches: that TCP knows no client and no server: SYNs that cross open one connection, by way of
 * SYN-RECEIVED at both ends, without `listen` and `accept`; that both ends must know the other's
 * port, so that both bind; that it takes a path with a delay: where a SYN arrives before the other
 * end has called `connect`, it is answered by a RST. Both begin at a full second of the clock.
 *
 * Without arguments it connects a socket to its own name: it receives its own SYN. That may happen
 * to a client of a server on this host that does not run, if the kernel chooses that port for it.
 *
 * What std hides: `TcpStream::connect` leaves no place for `bind`.
 *
 * simultaneous_open [OWN-ADDRESS:PORT PEER-ADDRESS:PORT] */
#include "tcp_info.h"

#include <fcntl.h>

/* A socket at a port, as a server's, but one that will not listen. */
static int bound(const char *own)
{
    struct addrinfo *at = resolve(own, SOCK_STREAM);
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
        bind(fd, at->ai_addr, at->ai_addrlen) < 0)
        fail(own);
    freeaddrinfo(at);
    return fd;
}

/* Connects, and prints each state that it sees, with the milliseconds since the SYN. The result is
 * that of `connect`. */
static int connect_and_watch(int fd, const char *peer)
{
    struct addrinfo *to = resolve(peer, SOCK_STREAM);
    int flags = fcntl(fd, F_GETFL), error = 0;
    unsigned state = 0;
    socklen_t len = sizeof error;

    /* `connect` is not to wait: it sends the SYN, and returns. */
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        fail("fcntl");
    struct timespec start = monotonic_now();
    if (connect(fd, to->ai_addr, to->ai_addrlen) < 0 && errno != EINPROGRESS)
        fail(peer);
    freeaddrinfo(to);
    while (state != TCP_ESTABLISHED && state != TCP_CLOSE) {
        unsigned seen = tcp_info_of(fd).tcpi_state;
        if (seen != state)
            printf("%4.0f ms: %s\n", seconds_since(&start) * 1e3, state_name(seen));
        else
            pause_for(1);
        state = seen;
    }
    if (fcntl(fd, F_SETFL, flags) < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        fail("SO_ERROR");
    errno = error;
    return error == 0 ? 0 : -1;
}

/* Waits until the clock shows a full second: so two programs begin at the same time. */
static void until_full_second(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) < 0)
        fail("clock_gettime");
    pause_for(1000 - now.tv_nsec / 1000000);
}

/* What each end says to the other: its own name. */
static void greet(int fd)
{
    char own[NAMED], heard[NAMED];
    ssize_t len = 0, got;

    name_of(fd, own);
    if (write_all(fd, own, strlen(own)) < 0 || shutdown(fd, SHUT_WR) < 0)
        fail("write");
    while ((got = read_some(fd, heard + len, sizeof heard - (size_t)len)) > 0)
        len += got;
    if (got < 0)
        fail("read");
    printf("%s hears: I am %.*s\n", own, (int)len, heard);
}

int main(int argc, char **argv)
{
    char room[NAMED];
    int fd;

    prepare();
    if (argc != 1 && argc != 3)
        usage("simultaneous_open [OWN-ADDRESS:PORT PEER-ADDRESS:PORT]");
    if (argc == 1) {
        fd = bound("127.0.0.1:0");
        if (connect_and_watch(fd, name_of(fd, room)) < 0)
            fail("connect");
        greet(fd);
        return 0;
    }
    for (int tries = 1; tries <= 10; tries++) {
        until_full_second();
        fd = bound(argv[1]);
        if (connect_and_watch(fd, argv[2]) == 0) {
            greet(fd);
            return 0;
        }
        if (errno != ECONNREFUSED)
            fail(argv[2]);
        printf("refused: the SYN came before the other end had called connect\n");
        close(fd);
    }
    fprintf(stderr, "%s: no SYN crossed; is there a delay between the ends?\n", argv[2]);
    return 1;
}
