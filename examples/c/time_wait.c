/* An experiment: a bind that fails because of TIME-WAIT, and SO_REUSEADDR.
 *
 * It teaches: who closes first waits, a minute on Linux, for what may still be on its way; that
 * a server which closed first cannot bind its port meanwhile; that SO_REUSEADDR allows it; and
 * that on Linux the old socket must have had it, too: set it always, not when `bind` has failed.
 *
 * What std hides: `TcpListener::bind` sets SO_REUSEADDR, always (not on Windows, where it means
 * that others may take the port).
 *
 * time_wait */
#include "course.h"

/* A socket at a port of 127.0.0.1, or -1. */
static int bound(in_port_t port, int reuse)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = port,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) < 0)
        fail("socket");
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* A server serves one client, closes first, and ends. Returns the port that it had. */
static in_port_t past_server(int reuse)
{
    struct sockaddr_in address;
    struct sockaddr_storage from;
    socklen_t len = sizeof address;
    char room[NAMED];
    int listener = bound(0, reuse);

    if (listener < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &len) < 0)
        fail("listen");
    int client = connect_to(name_of(listener, room), SOCK_STREAM);
    if (client < 0)
        fail("connect");
    int served = accept_from(listener, &from);
    if (served < 0)
        fail("accept");
    close(served); /* FIN: from now on this end waits */
    read_timeout(client, 10000);
    if (read_some(client, room, sizeof room) != 0)
        fail("no end");
    close(client); /* the other FIN: this end waits no more, the server's is in TIME-WAIT */
    close(listener);
    return address.sin_port;
}

int main(void)
{
    static const char *const with[] = {"without", "with"};

    prepare();
    for (int before = 0; before < 2; before++)
        for (int after = 0; after < 2; after++) {
            int fd = bound(past_server(before), after);
            printf("server %s SO_REUSEADDR, successor %s: %s\n", with[before], with[after],
                   fd < 0 ? strerror(errno) : "bound");
            if (fd >= 0)
                close(fd);
        }
    return 0;
}
