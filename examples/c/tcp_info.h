/* What Linux tells about a connection: the option TCP_INFO. Its Rust twin is ../src/tcp_info.rs. */
#ifndef TCP_INFO_H
#define TCP_INFO_H

#include "course.h"

#include <limits.h>
#include <netinet/tcp.h>

static inline struct tcp_info tcp_info_of(int fd)
{
    struct tcp_info info = {0}; /* an older kernel fills in less of it */
    socklen_t len = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        fail("TCP_INFO");
    return info;
}

/* The name that RFC 9293 gives to one of the kernel's numbers (include/net/tcp_states.h). */
static inline const char *state_name(unsigned state)
{
    static const char *const names[] = {"?",          "ESTABLISHED", "SYN-SENT",  "SYN-RECEIVED",
                                        "FIN-WAIT-1", "FIN-WAIT-2",  "TIME-WAIT", "CLOSED",
                                        "CLOSE-WAIT", "LAST-ACK",    "LISTEN",    "CLOSING"};

    return names[state < sizeof names / sizeof *names ? state : 0];
}

/* A clock that nobody sets. std: `Instant::now`. */
static inline struct timespec monotonic_now(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
        fail("clock_gettime");
    return now;
}

/* std: `Instant::elapsed`. */
static inline double seconds_since(const struct timespec *start)
{
    struct timespec now = monotonic_now();

    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

#endif
