/* Example 3: a connection. What the client sends comes back.
 *
 * It teaches: `listen`, `accept`, `connect` (course.h: serve_at, connect_to); that a read gives
 * what has arrived, not what was written; that the end of the stream is a read of nothing; and in
 * the client that `close` ends nothing while another process has the socket: `shutdown` does.
 *
 * What std hides: EINTR, partial writes, SO_REUSEADDR, SIGPIPE; `Drop` closes.
 *
 * echo server [ADDRESS:PORT], echo threads [ADDRESS:PORT], echo client ADDRESS:PORT */
#include "course.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>

/* Sends back all that comes, until nothing comes any more; then closes. */
static void *echo(void *argument)
{
    int fd = (int)(intptr_t)argument;
    char room[4096];
    ssize_t len;

    while ((len = read_some(fd, room, sizeof room)) > 0)
        if (write_all(fd, room, (size_t)len) < 0)
            break;
    if (len != 0) /* a broken connection concerns only that client */
        perror("echo");
    close(fd);
    return NULL;
}

/* Copies what comes from one descriptor to another, until the end. */
static int copy(int from, int to)
{
    char room[8192];
    ssize_t len;

    while ((len = read_some(from, room, sizeof room)) > 0)
        if (write_all(to, room, (size_t)len) < 0)
            return -1;
    return (int)len;
}

/* Sends standard input and prints the echo: in two processes, else both ends could wait for the
 * other to read. */
static void client(const char *server)
{
    int fd = connect_to(server, SOCK_STREAM), status;
    if (fd < 0)
        fail(server);
    pid_t printer = fork();
    if (printer < 0)
        fail("fork");
    if (printer == 0) {
        int printed = copy(fd, STDOUT_FILENO);
        if (printed < 0) {
            perror("echo");
            shutdown(fd, SHUT_RDWR); /* or the parent would write for ever */
        }
        _exit(printed < 0);
    }
    int sent = copy(STDIN_FILENO, fd);
    if (sent < 0)
        perror("send");
    /* Not `close`: the child has the socket, too, and the server would wait for more. */
    if (shutdown(fd, SHUT_WR) < 0 && sent == 0)
        perror("shutdown");
    if (waitpid(printer, &status, 0) < 0)
        fail("waitpid");
    close(fd);
    exit(sent < 0 || status != 0);
}

int main(int argc, char **argv)
{
    prepare();
    if (argc < 2 || (strcmp(argv[1], "client") == 0 && argc < 3))
        usage("echo server|threads [ADDRESS:PORT], echo client ADDRESS:PORT");
    if (strcmp(argv[1], "client") == 0)
        client(argv[2]);
    int listener = serve_at(argc > 2 ? argv[2] : "127.0.0.1:0", SOCK_STREAM);
    for (;;) {
        struct sockaddr_storage from;
        pthread_t thread;
        int fd = accept_from(listener, &from);
        if (fd < 0)
            fail("accept");
        void *argument = (void *)(intptr_t)fd;
        if (strcmp(argv[1], "threads") != 0) {
            echo(argument);
        } else if (pthread_create(&thread, NULL, echo, argument) != 0) {
            fprintf(stderr, "no thread for one more client\n");
            close(fd);
        } else {
            pthread_detach(thread); /* nobody waits for its end; in Rust, dropping the handle */
        }
    }
}
