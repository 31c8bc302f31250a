/* An experiment: writes and reads that move less than they were given.
 *
 * It teaches: that a write takes what the socket's buffer has room for, when it may not wait
 * (O_NONBLOCK) or a signal ends its waiting; that the number it returns is not an error, and the
 * next call says EAGAIN or EINTR; that a read gives what has arrived, whatever the writes were.
 *
 * What std hides: `write` and `read` are these calls; `write_all` and `read_exact` loop. But after
 * an error of `write_all` nobody knows how much it has written.
 *
 * short_write */
#include "alarm.h"

#include <fcntl.h>

enum { ASKED = 10000000, BUFFER = 65536 };

static char data[ASKED];

/* Two ends of a connection on this host, whose buffers are small and stay so. */
static void connected(int *sender, int *receiver)
{
    struct sockaddr_storage from;
    char room[NAMED];
    int buffer = BUFFER, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    /* What `accept` gives inherits the listener's; before `connect`, or the window is larger. */
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) < 0 ||
        bind(listener, (struct sockaddr *)&local, sizeof local) < 0 || listen(listener, 1) < 0)
        fail("listen");
    *sender = connect_to(name_of(listener, room), SOCK_STREAM);
    if (*sender < 0 || setsockopt(*sender, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) < 0)
        fail("connect");
    *receiver = accept_from(listener, &from);
    if (*receiver < 0)
        fail("accept");
    close(listener);
}

/* Writes twice, of which the second finds no room at all; closes, and reads all that was taken. */
static void write_twice(const char *how, int sender, int receiver)
{
    ssize_t got, all = 0;
    long reads = 0;
    ssize_t taken = write(sender, data, ASKED);

    if (taken < 0)
        fail("write");
    printf("%s: asked to write %d bytes, took %s\n", how, ASKED, taken < ASKED ? "less" : "all");
    ssize_t next = write(sender, data, ASKED);
    while (next > 0) { /* acknowledgements made room meanwhile */
        taken += next;
        next = write(sender, data, ASKED);
    }
    printf("%s: the next write: %s\n", how, strerror(errno));
    alarm_each(0, 0);
    close(sender); /* what was taken is sent nevertheless */
    while ((got = read_some(receiver, data, ASKED)) > 0) {
        all += got;
        reads++;
    }
    printf("%s: %s arrived, in %s\n", how, all == taken ? "all that was taken" : "not all",
           reads > 1 ? "more reads than writes" : "one read");
    close(receiver);
}

int main(void)
{
    int sender, receiver;

    prepare();
    connected(&sender, &receiver);
    int flags = fcntl(sender, F_GETFL);
    if (flags < 0 || fcntl(sender, F_SETFL, flags | O_NONBLOCK) < 0)
        fail("fcntl");
    write_twice("does not wait", sender, receiver);

    connected(&sender, &receiver);
    alarm_each(50, 0);
    write_twice("interrupted", sender, receiver);
    return 0;
}
