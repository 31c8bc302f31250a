/* A signal that comes again and again. Its Rust twin is ../src/alarm.rs. */
#ifndef ALARM_H
#define ALARM_H

#include "course.h"

/* How often it has come, and a socket to which the third writes a byte. A handler runs between any
 * two instructions: it may touch no more than such variables, and call no more than what
 * signal-safety(7) lists; `printf` is not there. */
static volatile sig_atomic_t alarms;
static volatile sig_atomic_t third_writes_to = -1;

static inline void on_alarm(int number)
{
    int error = errno; /* `write` may change it, and the program may be about to read it */

    (void)number;
    if (++alarms == 3 && third_writes_to >= 0 && write(third_writes_to, "x", 1) != 1)
        _exit(1);
    errno = error;
}

/* SIGALRM comes each so many milliseconds; 0 ends that. Again and again, since one that comes just
 * before a call that waits would not interrupt it. SA_RESTART: the kernel makes the interrupted
 * call again, where it does so at all. */
static inline void alarm_each(long milliseconds, int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    struct timeval period = {milliseconds / 1000, milliseconds % 1000 * 1000};
    struct itimerval timer = {period, period};

    alarms = 0;
    if (sigemptyset(&action.sa_mask) < 0 || sigaction(SIGALRM, &action, NULL) < 0)
        fail("sigaction");
    if (setitimer(ITIMER_REAL, &timer, NULL) < 0)
        fail("setitimer");
}

#endif
