/* The page that the servers of examples 6, 7 and 9 serve: about 3 KB, as in the course's
 * measurements. */
#ifndef PAGE_H
#define PAGE_H

#include "course.h"

enum { PAGE = 3000 };

/* Answers one request of HTTP/1.0, whatever it asks for. Returns NULL, or why it could not: the
 * client's own affair, and no reason for a server to end. */
static inline const char *serve_page(int fd)
{
    char room[1024], answer[PAGE + 200];
    int line_is_empty = 1;
    size_t most = 8192; /* who never stops talking is not listened to for ever */

    read_timeout(fd, 10000); /* nor does who says nothing keep a process or a thread */
    for (;;) {
        ssize_t len = read_some(fd, room, most < sizeof room ? most : sizeof room);
        if (len < 0)
            return strerror(errno);
        if (len == 0)
            return "the request has no end";
        most -= (size_t)len;
        /* The header ends with an empty line, which any read may bring, whole or half. */
        for (ssize_t at = 0; at < len; at++) {
            if (room[at] != '\n')
                line_is_empty = line_is_empty && isspace((unsigned char)room[at]);
            else if (line_is_empty)
                goto answer;
            else
                line_is_empty = 1;
        }
    }
answer:;
    /* One write: not a small one whose successor waits for an acknowledgement (Nagle). */
    int head = snprintf(answer, sizeof answer,
                        "HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n", PAGE);
    memset(answer + head, '.', PAGE);
    return write_all(fd, answer, (size_t)head + PAGE) < 0 ? strerror(errno) : NULL;
}

#endif
