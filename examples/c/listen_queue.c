/* An experiment: what `listen(fd, backlog)` limits.
 *
 * It teaches: that the kernel makes the handshake, not `accept`; that a connection then waits in
 * the accept queue, which takes backlog + 1 of them (net.core.somaxconn limits backlog); that
 * Linux drops the SYN of the next client, which repeats it after 1 s and later, until there is
 * room. If the queue fills while a handshake is under way, Linux drops the last ACK: the client
 * believes that it is connected. With net.ipv4.tcp_abort_on_overflow it is reset when it sends.
 *
 * What std hides: `TcpListener::bind` listens, with a backlog of 128.
 *
 * listen_queue [--backlog N] */
#include "tcp_info.h"

struct client {
    int number, fd;
    struct timespec start;
};

/* The value of a setting of the kernel. */
static int setting(const char *file)
{
    FILE *from = fopen(file, "r");
    int value;

    if (!from || fscanf(from, "%d", &value) != 1)
        fail(file);
    fclose(from);
    return value;
}

static int listening(long backlog)
{
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof local) < 0 ||
        listen(fd, (int)backlog) < 0)
        fail("listen");
    return fd;
}

/* A client whose `connect` does not wait: it sends a SYN and returns. */
static struct client client_of(int listener, int number)
{
    struct sockaddr_in server;
    socklen_t len = sizeof server;
    struct client client = {number, socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
                            monotonic_now()};

    if (client.fd < 0 || getsockname(listener, (struct sockaddr *)&server, &len) < 0)
        fail("socket");
    if (connect(client.fd, (struct sockaddr *)&server, len) < 0 && errno != EINPROGRESS)
        fail("connect");
    return client;
}

/* Prints the queue, too: for a listening socket these two fields of TCP_INFO are about that. */
static void print(const char *what, int listener)
{
    struct tcp_info queue = tcp_info_of(listener);

    printf("%s; accept queue %u, limit %u\n", what, queue.tcpi_unacked, queue.tcpi_sacked);
}

/* Whether the kernel drops the next one. */
static int is_full(int listener)
{
    struct tcp_info queue = tcp_info_of(listener);

    return queue.tcpi_unacked > queue.tcpi_sacked;
}

/* Prints what became of a client, when it is in another state or has repeated so much. */
static unsigned follow(const struct client *client, unsigned state, unsigned repeats, int listener)
{
    struct tcp_info info;
    char text[80];

    do {
        pause_for(10);
        info = tcp_info_of(client->fd);
    } while (info.tcpi_state == state && info.tcpi_total_retrans < repeats);
    snprintf(text, sizeof text, "client %d: %s after %.1f s, repeats %u", client->number,
             state_name(info.tcpi_state), seconds_since(&client->start), info.tcpi_total_retrans);
    print(text, listener);
    return info.tcpi_state;
}

/* The server accepts so many; the last of them. */
static int accept_some(int listener, long count)
{
    struct sockaddr_storage from;
    int fd = -1;

    while (count-- > 0)
        if ((fd = accept_from(listener, &from)) < 0)
            fail("accept");
    return fd;
}

/* Clients connect one after the other, until one of them does not get in. */
static void syn_dropped(long backlog)
{
    struct client client = {.number = 0};
    int listener = listening(backlog);

    printf("a SYN finds the queue full:\n");
    do
        client = client_of(listener, client.number + 1);
    while (follow(&client, TCP_SYN_SENT, 1, listener) == TCP_ESTABLISHED);
    accept_some(listener, 1);
    print("the server accepts one", listener);
    follow(&client, TCP_SYN_SENT, UINT_MAX, listener);
}

/* Client 1 begins, the others fill the queue, and only then its last ACK counts. On a path with a
 * delay that takes no option: the queue fills during a round trip. */
static void ack_dropped(long backlog)
{
    int defer = 30, listener = listening(backlog);
    char byte;

    printf("a last ACK finds the queue full:\n");
    /* As long as this is set, the kernel ignores an ACK without data. */
    if (setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof defer) < 0)
        fail("TCP_DEFER_ACCEPT");
    struct client first = client_of(listener, 1);
    follow(&first, TCP_SYN_SENT, UINT_MAX, listener);
    defer = 0;
    if (setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof defer) < 0)
        fail("TCP_DEFER_ACCEPT");
    int count = 1;
    do {
        struct client client = client_of(listener, ++count);
        follow(&client, TCP_SYN_SENT, UINT_MAX, listener);
    } while (!is_full(listener));
    first.start = monotonic_now();
    if (write(first.fd, "x", 1) != 1)
        fail("write");
    printf("client 1 sends a byte\n");
    if (follow(&first, TCP_ESTABLISHED, 1, listener) == TCP_ESTABLISHED) {
        int served = accept_some(listener, count);
        if (read_some(served, &byte, 1) != 1)
            fail("read");
        print("the server accepts all, and reads the byte", listener);
    } else if (read(first.fd, &byte, 1) < 0) {
        printf("client 1 reads: %s\n", strerror(errno));
    }
}

int main(int argc, char **argv)
{
    prepare();
    if (argc != 1 && argc != 3)
        usage("listen_queue [--backlog N]");
    long backlog = option(argv, "--backlog", 1, 1, 100);
    printf("net.core.somaxconn = %d\n", setting("/proc/sys/net/core/somaxconn"));
    /* As root: sysctl -w net.ipv4.tcp_abort_on_overflow=1 */
    printf("net.ipv4.tcp_abort_on_overflow = %d\n",
           setting("/proc/sys/net/ipv4/tcp_abort_on_overflow"));
    syn_dropped(backlog);
    ack_dropped(backlog); /* the end of the program closes all sockets */
    return 0;
}
