/* Example 6: a process for each connection.
 *
 * It teaches: the classic concurrent server, `accept` then `fork`; that both processes then hold
 * both sockets, and each must let go of the one that it does not use, or the connection never
 * ends; that children that have ended must be waited for, or they stay as zombies.
 *
 * What std hides: nothing, it has no fork; but `Drop` closes what C must close by hand.
 *
 * forking [ADDRESS:PORT]: any web browser, or example 8, is a client. */
#include "page.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
    prepare();
    int listener = serve_at(argc > 1 ? argv[1] : "127.0.0.1:0", SOCK_STREAM);
    for (;;) {
        struct sockaddr_storage from;
        char name[NAMED];
        int fd = accept_from(listener, &from);
        if (fd < 0)
            fail("accept");
        /* Those that have ended since the last time. A handler of SIGCHLD would do it at once, and
         * interrupt `accept` (EINTR). */
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        pid_t child = fork();
        if (child == 0) {
            close(listener);
            const char *error = serve_page(fd);
            if (error)
                fprintf(stderr, "%s: %s\n", text_of(&from, name), error);
            close(fd);
            _exit(error != NULL); /* not `exit`: what the parent had buffered is the parent's */
        }
        if (child < 0) /* too many at once: this one is turned away, the next may be served */
            fprintf(stderr, "%s turned away: %s\n", text_of(&from, name), strerror(errno));
        /* Only the child's is left; otherwise the client would wait for the end of the page. */
        close(fd);
    }
}
