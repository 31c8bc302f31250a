/* Example 3 with one thread for all clients: select(2).
 *
 * It teaches: a set of bits, one for each descriptor, that says what to wait for, and is changed
 * into what is ready, so that it is made anew each time; that both program and kernel look at all
 * bits; that no descriptor of 1,024 (FD_SETSIZE) or more fits: FD_SET would write beyond the set.
 *
 * What std hides: nothing, it has no such call; `rustix` has a slice that can grow.
 *
 * echo_select [ADDRESS:PORT] */
#include "connection.h"

#include <sys/select.h>

int main(int argc, char **argv)
{
    static struct connection *clients[CLIENTS];
    int count = 0;

    prepare();
    int listener = serve_at(argc > 1 ? argv[1] : "127.0.0.1:0", SOCK_STREAM);
    never_wait(listener);
    for (;;) {
        fd_set to_read, to_write;
        int last = listener;
        FD_ZERO(&to_read);
        FD_ZERO(&to_write);
        if (count < CLIENTS)
            FD_SET(listener, &to_read);
        for (int at = 0; at < count; at++) {
            int fd = clients[at]->fd;
            FD_SET(fd, wants_to_write(clients[at]) ? &to_write : &to_read);
            last = fd > last ? fd : last;
        }
        /* One more than the last: how many bits the kernel looks at. */
        if (select(last + 1, &to_read, &to_write, NULL, NULL) < 0) {
            if (errno == EINTR)
                continue;
            fail("select");
        }
        for (int at = count - 1; at >= 0; at--) {
            int fd = clients[at]->fd;
            int is_ready = FD_ISSET(fd, &to_read) || FD_ISSET(fd, &to_write);
            if (is_ready && !carry(clients[at])) {
                end(clients[at]);
                clients[at] = clients[--count];
            }
        }
        if (FD_ISSET(listener, &to_read)) {
            struct connection *client = next_client(listener);
            if (client && client->fd >= FD_SETSIZE)
                end(client); /* turned away: poll and epoll know no such bound */
            else if (client)
                clients[count++] = client;
        }
    }
}
