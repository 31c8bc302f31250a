/* Example 3 with one thread for all clients: poll(2).
 *
 * It teaches: an array with a row for each descriptor, what to wait for (`events`) and what there
 * is (`revents`), so that nothing has to be made anew and no descriptor is too large; that still
 * the kernel looks at each row of each call.
 *
 * What std hides: nothing, it has no such call. Errors (POLLERR, POLLHUP) come unasked: the read
 * that follows says what they are.
 *
 * echo_poll [ADDRESS:PORT] */
#include "connection.h"

int main(int argc, char **argv)
{
    /* The row before the clients' is the listener's. */
    static struct pollfd rows[1 + CLIENTS];
    static struct connection *clients[CLIENTS];
    int count = 0;

    prepare();
    int listener = serve_at(argc > 1 ? argv[1] : "127.0.0.1:0", SOCK_STREAM);
    never_wait(listener);
    for (;;) {
        /* A row with a negative descriptor is skipped: nobody is accepted for whom is no room. */
        rows[0].fd = count < CLIENTS ? listener : -1;
        rows[0].events = POLLIN;
        for (int at = 0; at < count; at++) {
            rows[1 + at].fd = clients[at]->fd;
            rows[1 + at].events = wants_to_write(clients[at]) ? POLLOUT : POLLIN;
        }
        if (poll(rows, (nfds_t)(1 + count), -1) < 0) {
            if (errno == EINTR)
                continue;
            fail("poll");
        }
        for (int at = count - 1; at >= 0; at--) {
            if (rows[1 + at].revents != 0 && !carry(clients[at])) {
                end(clients[at]);
                clients[at] = clients[--count];
            }
        }
        if (rows[0].revents != 0) {
            struct connection *client = next_client(listener);
            if (client)
                clients[count++] = client;
        }
    }
}
