/* Example 8: how long a server takes, when so many ask at once.
 *
 * It teaches: what there is to measure of a request: until the connection stands, until the first
 * byte of the answer, until the last; that a mean hides the slowest. It has the flaw of `ab`: each
 * client asks again only when it was answered, so that a server that stalls is asked less.
 * `tcplab load` shows the difference.
 *
 * What std hides: which clock (CLOCK_MONOTONIC: it does not jump); a thread's result goes through
 * memory that both know.
 *
 * load_tester ADDRESS:PORT [--requests N] [--clients N] */
#include "course.h"

#include <pthread.h>

enum { CONNECT, FIRST_BYTE, WHOLE, TIMES };

/* One request: what it took in milliseconds, or why it failed. */
struct took {
    double time[TIMES];
    size_t bytes;
    int error;
};

/* One client: its share of the requests. */
struct client {
    const char *server;
    struct took *took;
    long requests;
    pthread_t thread;
};

static double now(void)
{
    struct timespec time;

    if (clock_gettime(CLOCK_MONOTONIC, &time) < 0)
        fail("clock_gettime");
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Asks for the page, over a connection of its own. */
static void request(const char *server, struct took *took)
{
    static const char question[] = "GET / HTTP/1.0\r\n\r\n";
    char room[4096], start[7] = "";
    double begun = now();
    int fd = connect_to(server, SOCK_STREAM);

    if (fd < 0) {
        took->error = errno;
        return;
    }
    took->time[CONNECT] = now() - begun;
    read_timeout(fd, 10000);
    ssize_t len = write_all(fd, question, sizeof question - 1);
    while (len == 0 && (len = read_some(fd, room, sizeof room)) > 0) {
        if (took->bytes == 0)
            took->time[FIRST_BYTE] = now() - begun;
        for (ssize_t at = 0; at < len && took->bytes + (size_t)at < sizeof start; at++)
            start[took->bytes + (size_t)at] = room[at];
        took->bytes += (size_t)len;
        len = 0;
    }
    took->time[WHOLE] = now() - begun;
    if (len < 0)
        took->error = errno;
    else if (memcmp(start, "HTTP/1.", sizeof start) != 0)
        took->error = EPROTO;
    close(fd);
}

static void *work(void *argument)
{
    struct client *client = argument;

    for (long done = 0; done < client->requests; done++)
        request(client->server, &client->took[done]);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print(const struct took *took, long requests, double lasted)
{
    static const char *const names[] = {"time to connect", "latency", "response time"};
    double *each = calloc((size_t)requests + 1, sizeof *each), bytes = 0;
    long answered = 0, failed = 0;

    if (!each)
        fail("calloc");
    for (long at = 0; at < requests; at++) {
        answered += took[at].error == 0;
        bytes += took[at].error == 0 ? (double)took[at].bytes : 0;
    }
    printf("%ld of %ld requests answered in %.3f s\n", answered, requests, lasted);
    for (long at = 0; at < requests; at++)
        if (took[at].error != 0 && failed++ == 0)
            printf("%ld failed, the first: %s\n", requests - answered, strerror(took[at].error));
    printf("%-16s %10s %10s %10s\n", "milliseconds", "mean", "median", "most");
    for (int column = 0; column < TIMES && answered > 0; column++) {
        double sum = 0;
        long count = 0;
        for (long at = 0; at < requests; at++)
            if (took[at].error == 0)
                sum += each[count++] = took[at].time[column];
        qsort(each, (size_t)count, sizeof *each, by_size);
        printf("%-16s %10.3f %10.3f %10.3f\n", names[column], sum / (double)count,
               each[count / 2], each[count - 1]);
    }
    printf("data rate        %10.3f Mbit/s\n", bytes * 8 / lasted / 1e6);
    free(each);
}

int main(int argc, char **argv)
{
    prepare();
    if (argc < 2)
        usage("load_tester ADDRESS:PORT [--requests N] [--clients N]");
    long requests = option(argv, "--requests", 100, 0, 1000000);
    long clients = option(argv, "--clients", 4, 1, 1000);
    if (clients > requests)
        clients = requests > 0 ? requests : 1;
    struct took *took = calloc((size_t)requests + 1, sizeof *took), *next = took;
    struct client *client = calloc((size_t)clients, sizeof *client);
    if (!took || !client)
        fail("calloc");
    double begun = now();
    for (long at = 0; at < clients; at++) {
        client[at].server = argv[1];
        client[at].took = next; /* each thread has its own part: nothing is locked */
        client[at].requests = requests / clients + (at < requests % clients);
        next += client[at].requests;
        errno = pthread_create(&client[at].thread, NULL, work, &client[at]);
        if (errno != 0)
            fail("pthread_create");
    }
    for (long at = 0; at < clients; at++)
        pthread_join(client[at].thread, NULL);
    print(took, requests, (now() - begun) / 1e3);
    free(client);
    free(took);
    return 0;
}
