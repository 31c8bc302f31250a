/* Example 2: datagrams. Client and server exchange the time.
 *
 * It teaches: `recvfrom` and `sendto` at the server, where each datagram says who sent it; at the
 * client `connect`, which sends nothing and lets in only what comes from its server; and with
 * --timeout what it takes to live with datagrams that are lost: wait for so long only, ask again,
 * and know an answer to this question from a late one to an earlier.
 *
 * What std hides: the address's length, in and out; that a timeout is EAGAIN.
 *
 * time_exchange server [ADDRESS:PORT]
 * time_exchange client ADDRESS:PORT [--count N] [--pause MS] [--timeout MS [--tries N]] */
#include "course.h"

static void server(const char *where)
{
    int fd = serve_at(where, SOCK_DGRAM);

    for (;;) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        char said[512], answer[600], name[NAMED], time[40];
        /* A datagram is read whole: what is longer than the room is lost. */
        ssize_t got = recvfrom(fd, said, sizeof said - 1, 0, (struct sockaddr *)&from, &len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("recvfrom");
        said[got] = '\0';
        printf("%s says %s\n", text_of(&from, name), said);
        /* The number before the time comes back, so that the client knows what is answered. */
        int number = strchr(said, ' ') ? (int)strcspn(said, " ") : 0;
        int size = snprintf(answer, sizeof answer, "%.*s %s", number, said, time_of_day(time));
        if (sendto(fd, answer, (size_t)size, 0, (struct sockaddr *)&from, len) < 0)
            perror(name);
    }
}

/* Asks so often at most, and prints the answer, if one comes. */
static int ask(int fd, long number, long tries)
{
    char question[64], answer[512], time[40];

    for (; tries > 0; tries--) {
        int len = snprintf(question, sizeof question, "%ld %s", number, time_of_day(time));
        size_t digits = strcspn(question, " ") + 1;
        if (send(fd, question, (size_t)len, 0) < 0 && errno != ECONNREFUSED)
            fail("send");
        for (;;) {
            ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
            if (got < 0 && errno == EINTR)
                continue;
            /* The time is over; or an earlier datagram came where nobody listens, and the ICMP
             * message came back. */
            if (got < 0 && (errno == EAGAIN || errno == ECONNREFUSED))
                break;
            if (got < 0)
                fail("recv");
            answer[got] = '\0';
            /* Another number is a late answer to an earlier question. */
            if (strncmp(answer, question, digits) == 0)
                return printf("the server says %s\n", answer + digits);
        }
    }
    return printf("no answer to %ld\n", number);
}

int main(int argc, char **argv)
{
    prepare();
    if (argc < 2 || (strcmp(argv[1], "server") != 0 && argc < 3))
        usage("time_exchange server [ADDRESS:PORT], time_exchange client ADDRESS:PORT");
    if (strcmp(argv[1], "server") == 0)
        server(argc > 2 ? argv[2] : "127.0.0.1:0");
    long count = option(argv, "--count", 3, 0, 1000000);
    long pause = option(argv, "--pause", 1000, 0, 3600000);
    /* As in the course: without a timeout, it waits for ever for an answer that was lost. */
    long timeout = option(argv, "--timeout", 0, 1, 3600000);
    long tries = option(argv, "--tries", 3, 1, 1000);
    int fd = connect_to(argv[2], SOCK_DGRAM);
    if (fd < 0)
        fail(argv[2]);
    read_timeout(fd, timeout);
    for (long number = 1; number <= count; number++) {
        ask(fd, number, timeout > 0 ? tries : 1);
        if (number < count)
            pause_for(pause);
    }
    close(fd);
    return 0;
}
