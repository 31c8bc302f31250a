/* An experiment: a signal comes while a call waits (EINTR).
 *
 * It teaches: that a call that waits ends with EINTR when a handler has run; that SA_RESTART makes
 * the kernel repeat it, but not each: poll, select, epoll_wait, and whatever has a timeout by
 * SO_RCVTIMEO are never repeated (signal(7)); so that a program that has handlers needs the loop.
 *
 * What std hides: `read` gives ErrorKind::Interrupted; `read_exact`, `read_to_end`, `write_all`,
 * `io::copy`, `accept` and `connect` have the loop inside.
 *
 * interrupted */
#include "alarm.h"

static void print(const char *what, ssize_t got)
{
    if (got < 0)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %zd\n", what, got);
}

int main(void)
{
    int pair[2], again = 0;
    char byte;
    ssize_t got;

    prepare();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        fail("socketpair");

    alarm_each(20, 0);
    got = read(pair[0], &byte, 1); /* nothing comes */
    print("read", got);

    third_writes_to = pair[1];
    alarm_each(20, SA_RESTART);
    got = read(pair[0], &byte, 1); /* two signals change nothing, the third brings a byte */
    print("read with SA_RESTART", got);

    alarm_each(20, 0);
    while ((got = read(pair[0], &byte, 1)) < 0 && errno == EINTR)
        again++;
    print(again > 0 ? "read in a loop, interrupted and repeated" : "read in a loop", got);

    third_writes_to = -1;
    alarm_each(20, SA_RESTART);
    struct pollfd row = {.fd = pair[0], .events = POLLIN};
    print("poll with SA_RESTART", poll(&row, 1, 10000));

    alarm_each(20, SA_RESTART);
    read_timeout(pair[0], 10000);
    print("read with SA_RESTART and a timeout", read(pair[0], &byte, 1));

    alarm_each(0, 0);
    close(pair[0]);
    close(pair[1]);
    return 0;
}
