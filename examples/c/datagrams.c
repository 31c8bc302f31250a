/* An experiment: what a datagram socket receives, and how much of it.
 *
 * It teaches: that `connect` gives a datagram socket one peer, and it receives from that one only;
 * that a read takes one datagram, and what it has no room for is lost: the next read gives the
 * next datagram.
 *
 * What std hides: nothing; `connect`, `recv` and `recv_from` of UdpSocket are these calls.
 *
 * datagrams */
#include "course.h"

enum { LARGE = 600, ROOM = 100 };

/* A socket at a port of its own on this host. */
static int bound(struct sockaddr_in *own)
{
    socklen_t len = sizeof *own;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    *own = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)own, sizeof *own) < 0 ||
        getsockname(fd, (struct sockaddr *)own, &len) < 0)
        fail("bind");
    return fd;
}

static void send_to(int fd, const void *data, size_t len, const struct sockaddr_in *to)
{
    if (sendto(fd, data, len, 0, (const struct sockaddr *)to, sizeof *to) != (ssize_t)len)
        fail("sendto");
}

/* On this host a datagram has arrived when `sendto` returns: nothing waits. */
static void receive(int fd, const char *when)
{
    char room[ROOM];
    ssize_t got = recv(fd, room, sizeof room, MSG_DONTWAIT);

    if (got < 0)
        printf("%s: %s\n", when, strerror(errno));
    else if (got < ROOM)
        printf("%s: %.*s\n", when, (int)got, room);
    else
        printf("%s: %zd bytes\n", when, got);
}

int main(void)
{
    struct sockaddr_in own, of_peer, of_stranger;
    char large[LARGE] = {0};

    prepare();
    int fd = bound(&own), peer = bound(&of_peer), stranger = bound(&of_stranger);
    send_to(stranger, "the stranger's", 14, &own);
    receive(fd, "not connected");
    if (connect(fd, (struct sockaddr *)&of_peer, sizeof of_peer) < 0)
        fail("connect");
    send_to(stranger, "the stranger's", 14, &own);
    receive(fd, "connected to the peer, the stranger sends");
    send_to(peer, "the peer's", 10, &own);
    receive(fd, "connected to the peer, the peer sends");
    send_to(peer, large, sizeof large, &own);
    send_to(peer, "the next", 8, &own);
    receive(fd, "of 600 bytes, with room for 100");
    receive(fd, "then");
    return 0;
}
