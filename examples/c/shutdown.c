/* An experiment: `close` against `shutdown`, across `fork`.
 *
 * It teaches: that a descriptor is a reference: after a fork two processes have the connection, and
 * `close` ends it only when the last of them closes; that `shutdown` acts on the connection itself,
 * whoever has it; that it can end one direction, and the other goes on (half close).
 *
 * What std hides: `Drop` closes; `try_clone` is dup(2), a second reference just like a fork's.
 *
 * shutdown */
#include "course.h"

#include <sys/wait.h>

/* Two ends of a connection on this host. */
static void connected(int *near, int *far)
{
    struct sockaddr_storage from;
    char room[NAMED];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (listener < 0 || bind(listener, (struct sockaddr *)&local, sizeof local) < 0 ||
        listen(listener, 1) < 0)
        fail("listen");
    *far = connect_to(name_of(listener, room), SOCK_STREAM);
    if (*far < 0)
        fail("connect");
    *near = accept_from(listener, &from);
    if (*near < 0)
        fail("accept");
    close(listener);
}

/* A process that has the near end, and ends when the other end of the pipe is closed. */
static pid_t holder(int far, int *pipe_end)
{
    int ends[2];
    char byte;

    if (pipe(ends) < 0)
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        close(far);
        close(ends[1]);
        _exit(read_some(ends[0], &byte, 1) != 0);
    }
    close(ends[0]);
    *pipe_end = ends[1];
    return child;
}

/* What the far end reads, within so long. */
static void print(const char *after, int far, long milliseconds)
{
    char byte;

    read_timeout(far, milliseconds);
    ssize_t got = read_some(far, &byte, 1);
    if (got < 0 && errno != EAGAIN)
        fail("read");
    printf("%s: the peer reads %s\n", after, got < 0 ? "nothing yet" : "the end of the stream");
}

int main(void)
{
    int near, far, pipe_end;
    char byte = 'x';

    prepare();
    connected(&near, &far);
    pid_t child = holder(far, &pipe_end);
    close(near);
    print("close in one of two processes", far, 100);
    close(pipe_end);
    if (waitpid(child, NULL, 0) < 0)
        fail("waitpid");
    print("the other process has ended", far, 10000);
    close(far);

    connected(&near, &far);
    child = holder(far, &pipe_end);
    if (shutdown(near, SHUT_WR) < 0)
        fail("shutdown");
    print("shutdown in one of two processes", far, 10000);
    read_timeout(near, 10000);
    if (write_all(far, &byte, 1) < 0 || read_some(near, &byte, 1) != 1)
        fail("half close");
    printf("half closed: the other direction still carries data\n");
    close(pipe_end);
    if (waitpid(child, NULL, 0) < 0)
        fail("waitpid");
    close(near);
    close(far);
    return 0;
}
