/* Example 5: datagrams, a timeout, and a thread for each answer.
 *
 * It teaches: that a server of datagrams can work on several questions at once though it has one
 * socket, which its threads share; that answers may then come in another order than the questions;
 * what a client's timeout does, and that a late answer still comes.
 *
 * What std hides: a thread gets one pointer, so that question and address go through memory of
 * their own, which the thread frees; `Arc` and a closure do that in Rust.
 *
 * udp_threads server [ADDRESS:PORT]
 * udp_threads client ADDRESS:PORT [--timeout MS] WORK...: each WORK is a number of milliseconds
 * that the server works on its answer. */
#include "course.h"

#include <pthread.h>

struct question {
    int fd;
    struct sockaddr_storage from;
    socklen_t len;
    char text[64];
};

/* Works as long as the question says, ten seconds at most, and answers. */
static void *answer(void *argument)
{
    struct question *question = argument;
    char text[80], *end = NULL;
    const char *work = strchr(question->text, ' ');

    errno = 0;
    unsigned long long milliseconds =
        work && isdigit((unsigned char)work[1]) ? strtoull(work + 1, &end, 10) : 0;
    if (end && *end == '\0' && errno == 0) {
        pause_for(milliseconds < 10000 ? (long)milliseconds : 10000);
        snprintf(text, sizeof text, "%s ms done", question->text);
    } else {
        snprintf(text, sizeof text, "not understood");
    }
    /* Each datagram is sent whole: threads that share a socket do not mix theirs. */
    if (sendto(question->fd, text, strlen(text), 0, (struct sockaddr *)&question->from,
               question->len) < 0)
        perror("sendto");
    free(question);
    return NULL;
}

static void server(const char *where)
{
    int fd = serve_at(where, SOCK_DGRAM);

    for (;;) {
        pthread_t thread;
        struct question *question = calloc(1, sizeof *question);
        if (!question)
            fail("calloc");
        question->fd = fd;
        question->len = sizeof question->from;
        ssize_t got = recvfrom(fd, question->text, sizeof question->text - 1, 0,
                               (struct sockaddr *)&question->from, &question->len);
        if (got < 0 && errno != EINTR)
            fail("recvfrom");
        if (got < 0 || pthread_create(&thread, NULL, answer, question) != 0)
            free(question); /* too many threads: as if the question had been lost */
        else
            pthread_detach(thread);
    }
}

int main(int argc, char **argv)
{
    prepare();
    if (argc < 2 || (strcmp(argv[1], "server") != 0 && argc < 3))
        usage("udp_threads server [ADDRESS:PORT], udp_threads client ADDRESS:PORT WORK...");
    if (strcmp(argv[1], "server") == 0)
        server(argc > 2 ? argv[2] : "127.0.0.1:0");
    long timeout = option(argv, "--timeout", 1000, 1, 3600000);
    char **works = argv + (argc > 3 && strcmp(argv[3], "--timeout") == 0 ? 5 : 3);
    int fd = connect_to(argv[2], SOCK_DGRAM);
    if (fd < 0)
        fail(argv[2]);
    read_timeout(fd, timeout);
    for (int number = 0; works[number]; number++) {
        char text[80];
        int len = snprintf(text, sizeof text, "%d %.48s", number, works[number]);
        size_t digits = strcspn(text, " ") + 1;
        char answer[80];
        if (send(fd, text, (size_t)len, 0) < 0)
            fail("send");
        ssize_t got = read_some(fd, answer, sizeof answer - 1);
        if (got < 0 && errno == EAGAIN) {
            printf("%d: no answer within %ld ms\n", number, timeout);
        } else if (got < 0) {
            fail("recv");
        } else {
            answer[got] = '\0';
            printf("%s%s\n", answer, strncmp(answer, text, digits) == 0 ? "" : " (late)");
        }
    }
    close(fd);
    return 0;
}
