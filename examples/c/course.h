/* What several of the programs need and none is about. Its Rust twin is ../src/lib.rs.
 *
 * Most of it is what Rust's std does behind `TcpListener::bind`, `TcpStream::connect`,
 * `UdpSocket::bind`, `accept` and `write_all`: it is worth reading once, in this order. */
#ifndef COURSE_H
#define COURSE_H

/* C99 knows no sockets: this asks the headers for POSIX as well, and for what Linux adds. */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Ends the program with the reason of the last error. In Rust, `?` hands it on to `main`. */
static inline void fail(const char *what)
{
    perror(what);
    exit(1);
}

static inline void usage(const char *text)
{
    fprintf(stderr, "usage: %s\n", text);
    exit(1);
}

/* What Rust does before `main`, or at each line that it prints. */
static inline void prepare(void)
{
    /* A write to a connection that the peer has reset would end the process by SIGPIPE. Ignored,
     * it is an error of that write (EPIPE) and of nothing else. */
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        fail("signal");
    /* Into a pipe, C writes when 4,096 bytes are together: nobody would learn the port. And what
     * is still in the buffer at a `fork` would be written twice. */
    if (setvbuf(stdout, NULL, _IOLBF, 0) != 0)
        fail("setvbuf");
}

/* The text behind an option such as `--utmp`, or `absent`. */
static inline const char *text_option(char **argv, const char *name, const char *absent)
{
    for (; *argv; argv++) {
        if (strcmp(*argv, name) != 0)
            continue;
        if (!argv[1])
            usage("an option needs a value");
        return argv[1];
    }
    return absent;
}

/* The number behind an option such as `--count`, within bounds, or `absent`. */
static inline long option(char **argv, const char *name, long absent, long least, long most)
{
    const char *text = text_option(argv, name, NULL);
    char *end;

    if (!text)
        return absent;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s needs a number from %ld to %ld\n", name, least, most);
        exit(1);
    }
    return value;
}

/* Room for "[address%interface]:port". */
enum { NAMED = 88 };

/* A socket address as text. The kernel's has its numbers in network byte order, and a struct for
 * each family; getnameinfo(3) knows them all. std: `Display` of `SocketAddr`. */
static inline const char *text_of(const struct sockaddr_storage *address, char room[NAMED])
{
    char host[72], port[8];
    socklen_t len = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                   : sizeof(struct sockaddr_in);
    int error = getnameinfo((const struct sockaddr *)address, len, host, sizeof host, port,
                            sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);

    if (error != 0)
        snprintf(room, NAMED, "(%s)", gai_strerror(error));
    else
        snprintf(room, NAMED, address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return room;
}

/* The name of a socket itself. std: `local_addr`. */
static inline const char *name_of(int fd, char room[NAMED])
{
    struct sockaddr_storage own;
    socklen_t len = sizeof own; /* in: the room; out: what it took */

    if (getsockname(fd, (struct sockaddr *)&own, &len) < 0)
        fail("getsockname");
    return text_of(&own, room);
}

/* The addresses that ADDRESS:PORT stands for, of IPv4 and IPv6. std: `ToSocketAddrs`. */
static inline struct addrinfo *resolve(const char *text, int type)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = type}, *found;
    const char *colon = strrchr(text, ':');
    char host[256], *name = host;

    if (!colon || (size_t)(colon - text) >= sizeof host)
        usage("write ADDRESS:PORT, such as 127.0.0.1:7 or [::1]:7");
    size_t len = (size_t)(colon - text);
    memcpy(host, text, len);
    host[len] = '\0';
    /* IPv6 addresses have colons of their own, and brackets around them. */
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        name++;
    }
    int error = getaddrinfo(name, colon + 1, &hints, &found);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", text, gai_strerror(error));
        exit(1);
    }
    return found; /* a list, which freeaddrinfo(3) frees */
}

/* A socket at ADDRESS:PORT that listens (SOCK_STREAM) or receives (SOCK_DGRAM); it says where.
 * std: `TcpListener::bind`, `UdpSocket::bind`. */
static inline int serve_at(const char *text, int type)
{
    struct addrinfo *all = resolve(text, type), *one;
    char room[NAMED];
    int fd = -1, yes = 1;

    for (one = all; one; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (fd < 0)
            continue;
        /* Without it a server cannot start again while connections of its predecessor are in
         * TIME-WAIT: time_wait.c shows that. For datagrams it would let others take the port. */
        if ((type != SOCK_STREAM ||
             setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0) &&
            bind(fd, one->ai_addr, one->ai_addrlen) == 0 &&
            (type != SOCK_STREAM || listen(fd, 128) == 0))
            break; /* 128 may wait for `accept`, as in std */
        int error = errno;
        close(fd);
        errno = error;
        fd = -1;
    }
    freeaddrinfo(all);
    if (fd < 0)
        fail(text);
    printf("listening on %s\n", name_of(fd, room)); /* port 0 has become the kernel's choice */
    return fd;
}

/* Connects, whatever signals come. A connect that was interrupted goes on by itself, and may not be
 * called again: when the socket can be written to, SO_ERROR says how it ended. */
static inline int connect_whole(int fd, const struct addrinfo *to)
{
    struct pollfd row = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;

    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
        return 0;
    if (errno != EINTR)
        return -1;
    while (poll(&row, 1, -1) < 0)
        if (errno != EINTR)
            return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return -1;
    errno = error;
    return error == 0 ? 0 : -1;
}

/* A socket that is connected to ADDRESS:PORT; -1 if no address answers. Nothing is bound before:
 * `connect` chooses address and port. A datagram socket sends nothing by that: from now on it
 * has one peer, and receives from that one only. std: `TcpStream::connect`. */
static inline int connect_to(const char *text, int type)
{
    struct addrinfo *all = resolve(text, type), *one;
    int fd = -1;

    for (one = all; one; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (fd < 0)
            continue;
        if (connect_whole(fd, one) == 0)
            break;
        int error = errno;
        close(fd);
        errno = error;
        fd = -1;
    }
    freeaddrinfo(all);
    return fd;
}

/* The next connection, and who it is from. std: `accept`, which hands on ECONNABORTED. */
static inline int accept_from(int listener, struct sockaddr_storage *from)
{
    for (;;) {
        socklen_t len = sizeof *from;
        int fd = accept4(listener, (struct sockaddr *)from, &len, SOCK_CLOEXEC);
        /* A signal came, or the client went before it was accepted: not this server's trouble. */
        if (fd >= 0 || (errno != EINTR && errno != ECONNABORTED))
            return fd;
    }
}

/* How long a read waits at most; 0 is for ever. std: `set_read_timeout`. */
static inline void read_timeout(int fd, long milliseconds)
{
    struct timeval most = {milliseconds / 1000, milliseconds % 1000 * 1000};

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) < 0)
        fail("SO_RCVTIMEO");
}

/* What has arrived: at least a byte, 0 at the end of the stream. In std, `read` may be interrupted
 * as well; `read_exact`, `read_to_end` and `io::copy` ask again. */
static inline ssize_t read_some(int fd, void *room, size_t len)
{
    ssize_t got;

    do
        got = read(fd, room, len);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Writes all of it: a write may take less than it is given. std: `write_all`. */
static inline int write_all(int fd, const void *data, size_t len)
{
    const char *rest = data;

    while (len > 0) {
        ssize_t taken = write(fd, rest, len);
        if (taken < 0 && errno == EINTR)
            continue;
        if (taken < 0)
            return -1;
        rest += taken;
        len -= (size_t)taken;
    }
    return 0;
}

/* Waits. std: `thread::sleep`, which goes on after a signal, too. */
static inline void pause_for(long milliseconds)
{
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        ;
}

/* The time now, in UTC, with microseconds. */
static inline const char *time_of_day(char room[40])
{
    struct timespec now;
    struct tm date;
    char seconds[32];

    if (clock_gettime(CLOCK_REALTIME, &now) < 0 || !gmtime_r(&now.tv_sec, &date))
        fail("clock_gettime");
    if (strftime(seconds, sizeof seconds, "%Y-%m-%d %H:%M:%S", &date) == 0)
        fail("strftime");
    snprintf(room, 40, "%s.%06ld", seconds, now.tv_nsec / 1000 % 1000000);
    return room;
}

#endif
