/* Example 3 with one thread for all clients: epoll(7), Linux's own.
 *
 * It teaches: that the kernel keeps the list, so that a call costs what is ready, not what is
 * there; that a change (read or write next?) is a call of its own; that an event carries what the
 * program gave it, here the connection; that closing takes a descriptor off the list.
 *
 * Without EPOLLET it says that something can be read as long as something can; with it, only that
 * something has come: then a program must read until EAGAIN, or it waits for ever.
 *
 * What std hides: nothing, it has no such call; asynchronous runtimes such as tokio stand on it.
 *
 * echo_epoll [ADDRESS:PORT] */
#include "connection.h"

#include <sys/epoll.h>

static void watch(int epoll, int operation, int fd, uint32_t events, struct connection *client)
{
    struct epoll_event event = {.events = events, .data.ptr = client};

    if (epoll_ctl(epoll, operation, fd, &event) < 0)
        fail("epoll_ctl");
}

int main(int argc, char **argv)
{
    int count = 0;

    prepare();
    int listener = serve_at(argc > 1 ? argv[1] : "127.0.0.1:0", SOCK_STREAM);
    never_wait(listener);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        fail("epoll_create1");
    watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL); /* no connection: the listener */
    for (;;) {
        struct epoll_event ready[64];
        int events = epoll_wait(epoll, ready, 64, -1);
        if (events < 0 && errno != EINTR)
            fail("epoll_wait");
        for (int at = 0; at < events; at++) {
            struct connection *client = ready[at].data.ptr;
            if (client) {
                int wrote = wants_to_write(client);
                if (!carry(client)) {
                    end(client);
                    /* There is room again. */
                    if (count-- == CLIENTS)
                        watch(epoll, EPOLL_CTL_MOD, listener, EPOLLIN, NULL);
                } else if (wants_to_write(client) != wrote) {
                    watch(epoll, EPOLL_CTL_MOD, client->fd, wrote ? EPOLLIN : EPOLLOUT, client);
                }
            } else if ((client = next_client(listener))) {
                watch(epoll, EPOLL_CTL_ADD, client->fd, EPOLLIN, client);
                if (++count == CLIENTS)
                    watch(epoll, EPOLL_CTL_MOD, listener, 0, NULL);
            }
        }
    }
}
