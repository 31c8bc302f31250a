/* Example 3, continued: daytime (RFC 867).
 *
 * It teaches: a protocol in which the server speaks first and closes, so that the end of the
 * stream ends the message; and who is left in TIME-WAIT: the server, which closed first
 * (`tcplab states --state time-wait` shows it).
 *
 * What std hides: `take(512).read_to_string` is the loop below, with its bound and its EINTR.
 *
 * daytime server [ADDRESS:PORT], daytime client ADDRESS:PORT */
#include "course.h"

static int client(const char *server)
{
    char time[512]; /* more than a date is not from a server of this kind */
    size_t len = 0;
    ssize_t got;
    int fd = connect_to(server, SOCK_STREAM);

    if (fd < 0)
        fail(server);
    /* A read may give a part of the date: only a read of nothing says that it is whole. */
    while (len < sizeof time && (got = read_some(fd, time + len, sizeof time - len)) != 0) {
        if (got < 0)
            fail("read");
        len += (size_t)got;
    }
    close(fd);
    while (len > 0 && isspace((unsigned char)time[len - 1]))
        len--;
    printf("it is %.*s\n", (int)len, time); /* bytes from the network have no `\0` at the end */
    return 0;
}

int main(int argc, char **argv)
{
    prepare();
    if (argc < 2 || (strcmp(argv[1], "client") == 0 && argc < 3))
        usage("daytime server [ADDRESS:PORT], daytime client ADDRESS:PORT");
    if (strcmp(argv[1], "client") == 0)
        return client(argv[2]);
    int listener = serve_at(argc > 2 ? argv[2] : "127.0.0.1:0", SOCK_STREAM);
    for (;;) {
        struct sockaddr_storage from;
        char name[NAMED], time[40], line[44];
        int fd = accept_from(listener, &from);
        if (fd < 0)
            fail("accept");
        printf("%s asks\n", text_of(&from, name));
        int len = snprintf(line, sizeof line, "%s\r\n", time_of_day(time));
        if (write_all(fd, line, (size_t)len) < 0)
            perror(name); /* if this client has gone, the next one has not */
        close(fd);
    }
}
