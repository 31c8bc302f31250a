/* Example 9: processes that were made beforehand, each of which accepts.
 *
 * It teaches: that several processes may call `accept` on one listening socket, and the kernel
 * gives each connection to one of them; that no client waits for a `fork`; that a parent that only
 * watches can replace a child that died, so that one bad request costs one child and nothing else.
 *
 * What std hides: nothing, it has no fork.
 *
 * preforking [ADDRESS:PORT] [--children N]: example 8 shows the difference to example 6. */
#include "page.h"

#include <sys/prctl.h>
#include <sys/wait.h>

/* Starts a child that accepts and serves for ever. */
static void start(int listener)
{
    pid_t parent = getpid(), child = fork();

    if (child < 0)
        fail("fork");
    if (child > 0)
        return;
    /* A child does not outlive its parent, however that ends, be it just now. Linux's own. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
        fail("prctl");
    if (getppid() != parent)
        _exit(0);
    for (;;) {
        struct sockaddr_storage from;
        char name[NAMED];
        int fd = accept_from(listener, &from);
        if (fd < 0)
            fail("accept");
        printf("process %d serves %s\n", (int)getpid(), text_of(&from, name));
        const char *error = serve_page(fd);
        if (error)
            fprintf(stderr, "%s: %s\n", name, error);
        close(fd);
    }
}

int main(int argc, char **argv)
{
    prepare();
    long children = option(argv, "--children", 4, 1, 1000);
    int listener =
        serve_at(argc > 1 && argv[1][0] != '-' ? argv[1] : "127.0.0.1:0", SOCK_STREAM);
    while (children-- > 0)
        start(listener);
    for (;;) {
        if (wait(NULL) > 0) {
            fprintf(stderr, "a child died: another takes its place\n");
            start(listener);
        } else if (errno != EINTR) {
            fail("wait");
        }
    }
}
