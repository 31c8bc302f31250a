/* Example 7: a fixed number of threads, and connections that wait for one of them.
 *
 * It teaches: that threads made beforehand cost nothing when a client comes; that a bounded queue
 * between `accept` and the threads pushes back: when it is full, nobody accepts, and who comes
 * waits in the kernel's queue, then in the network.
 *
 * What std hides: the queue. `sync_channel` is the lock and the two conditions below.
 *
 * thread_pool [ADDRESS:PORT] [--threads N] */
#include "page.h"

#include <pthread.h>

enum { MOST = 1000 };

/* A ring of connections; as many may wait as are served at once. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    int connections[MOST];
    long first, waiting, most;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER};

static void give(int fd)
{
    pthread_mutex_lock(&queue.lock);
    /* A loop: a condition may wake a thread for nothing. The lock is open while it waits. */
    while (queue.waiting == queue.most)
        pthread_cond_wait(&queue.not_full, &queue.lock);
    queue.connections[(queue.first + queue.waiting++) % queue.most] = fd;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.lock);
}

static int take(void)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.waiting == 0)
        pthread_cond_wait(&queue.not_empty, &queue.lock);
    int fd = queue.connections[queue.first];
    queue.first = (queue.first + 1) % queue.most;
    queue.waiting--;
    pthread_cond_signal(&queue.not_full);
    pthread_mutex_unlock(&queue.lock);
    return fd;
}

/* Serves one connection after another. */
static void *work(void *nothing)
{
    for (;;) {
        int fd = take();
        const char *error = serve_page(fd);
        if (error)
            fprintf(stderr, "%s\n", error);
        close(fd);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    prepare();
    queue.most = option(argv, "--threads", 8, 1, MOST);
    int listener =
        serve_at(argc > 1 && argv[1][0] != '-' ? argv[1] : "127.0.0.1:0", SOCK_STREAM);
    for (long thread = 0; thread < queue.most; thread++) {
        pthread_t id;
        errno = pthread_create(&id, NULL, work, NULL); /* returns the error: threads' habit */
        if (errno != 0)
            fail("pthread_create");
        pthread_detach(id);
    }
    for (;;) {
        struct sockaddr_storage from;
        int fd = accept_from(listener, &from);
        if (fd < 0)
            fail("accept");
        give(fd);
    }
}
