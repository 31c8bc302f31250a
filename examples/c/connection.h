/* A connection of the servers that wait for many at once: what came from it and has not gone back.
 * Its Rust twin is ../src/connection.rs. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "course.h"

#include <fcntl.h>

struct connection {
    int fd;
    size_t sent, len; /* what lies between them waits in `room` */
    char room[4096];
};

/* How many clients at once; who comes then waits until one has gone. */
enum { CLIENTS = 1000 };

/* Nothing may wait but the one call that waits for all. A socket that `accept` gives does not
 * inherit this on Linux. std: `set_nonblocking`. */
static inline void never_wait(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        fail("fcntl");
}

/* The next client; NULL if there is none, though the listener was said to be ready: it may have
 * gone again. */
static inline struct connection *next_client(int listener)
{
    struct sockaddr_storage from;
    int fd = accept_from(listener, &from);

    if (fd < 0 && errno != EAGAIN)
        fail("accept");
    if (fd < 0)
        return NULL;
    never_wait(fd);
    struct connection *client = calloc(1, sizeof *client);
    if (!client)
        fail("calloc");
    client->fd = fd;
    return client;
}

/* Whether it waits until it can write. It does not read then: who does not read what comes back
 * must not fill this server's memory, and is pushed back by TCP. */
static inline int wants_to_write(const struct connection *client)
{
    return client->sent < client->len;
}

/* Reads once and writes once, without waiting. Returns 0 when the connection is over. */
static inline int carry(struct connection *client)
{
    if (!wants_to_write(client)) {
        ssize_t len = read_some(client->fd, client->room, sizeof client->room);
        if (len <= 0)
            return len < 0 && errno == EAGAIN;
        client->sent = 0;
        client->len = (size_t)len;
    }
    ssize_t taken;
    do
        taken = write(client->fd, client->room + client->sent, client->len - client->sent);
    while (taken < 0 && errno == EINTR);
    if (taken < 0)
        return errno == EAGAIN;
    client->sent += (size_t)taken;
    return 1;
}

static inline void end(struct connection *client)
{
    close(client->fd);
    free(client);
}

#endif
