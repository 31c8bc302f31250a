/* Example 4: is a user logged in? A question and an answer in a datagram each.
 *
 * It teaches: a service that is one question; that a server must check what it is sent, since
 * anyone can send anything; where a system writes down who is logged in: utmp(5), or, where that
 * is no longer written (Debian 13, musl), the sessions of systemd-logind. Where there is neither,
 * as in most containers, the answer says so.
 *
 * What std hides: nothing of utmp; Rust reads the bytes at the offsets that `libc` gives.
 *
 * logged_in server [ADDRESS:PORT] [--utmp FILE] [--systemd DIR]
 * logged_in client USER ADDRESS:PORT */
#include "course.h"

#include <dirent.h>
#include <utmpx.h>

enum { YES, NO, UNKNOWN };

/* A name of at most so many bytes as utmp has, of letters, digits and `._-`. */
static int is_name(const char *text, size_t len)
{
    if (len == 0 || len > sizeof((struct utmpx *)0)->ut_user)
        return 0;
    for (size_t at = 0; at < len; at++)
        if (!isascii((unsigned char)text[at]) ||
            (!isalnum((unsigned char)text[at]) && !memchr("._-", text[at], 3)))
            return 0;
    return 1;
}

static int in_utmp(const char *path, const char *user)
{
    struct utmpx record;
    int answer = NO;
    FILE *file = fopen(path, "rb");

    if (!file)
        return UNKNOWN;
    /* getutxent(3) reads the same, but only of the system's file, and nothing with musl. */
    while (answer == NO && fread(&record, sizeof record, 1, file) == 1)
        if (record.ut_type == USER_PROCESS &&
            strncmp(record.ut_user, user, sizeof record.ut_user) == 0) /* may have no `\0` */
            answer = YES;
    if (ferror(file))
        answer = UNKNOWN;
    fclose(file);
    return answer;
}

/* Each session is a file of lines such as USER=name and CLASS=user (greeters have another class).
 * systemd's own functions, sd_session_get_username(3), read these files. Containers may have the
 * folder and no systemd: it runs where there is `system` (sd_booted(3)). */
static int in_sessions(const char *systemd, const char *user)
{
    char line[512], path[512], file_name[800], wanted[64];
    int answer = NO;
    struct dirent *entry;

    snprintf(path, sizeof path, "%.400s/system", systemd);
    if (access(path, F_OK) < 0)
        return UNKNOWN;
    snprintf(path, sizeof path, "%.400s/sessions", systemd);
    DIR *folder = opendir(path);
    if (!folder)
        return UNKNOWN;
    snprintf(wanted, sizeof wanted, "USER=%.32s\n", user);
    while (answer == NO && (entry = readdir(folder))) {
        snprintf(file_name, sizeof file_name, "%s/%s", path, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(file_name, "r");
        int is_user = 0, is_session = 0;
        while (file && fgets(line, sizeof line, file)) {
            is_user = is_user || strcmp(line, wanted) == 0;
            is_session = is_session || strcmp(line, "CLASS=user\n") == 0;
        }
        if (file)
            fclose(file);
        answer = is_user && is_session ? YES : NO;
    }
    closedir(folder);
    return answer;
}

static void server(char **argv, const char *where)
{
    const char *utmp = text_option(argv, "--utmp", "/var/run/utmp");
    const char *systemd = text_option(argv, "--systemd", "/run/systemd");
    int fd = serve_at(where, SOCK_DGRAM);

    for (;;) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        char user[64], answer[256];
        ssize_t got = recvfrom(fd, user, sizeof user - 1, 0, (struct sockaddr *)&from, &len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("recvfrom");
        user[got] = '\0';
        int known = UNKNOWN;
        if (is_name(user, (size_t)got)) {
            known = in_utmp(utmp, user);
            if (known == UNKNOWN)
                known = in_sessions(systemd, user);
            if (known == UNKNOWN)
                snprintf(answer, sizeof answer,
                         "nobody knows: there is no %.80s, and no systemd runs (%.80s/system)",
                         utmp, systemd);
            else
                snprintf(answer, sizeof answer, "%s is %slogged in", user,
                         known == YES ? "" : "not ");
        } else {
            snprintf(answer, sizeof answer, "that is no user's name");
        }
        if (sendto(fd, answer, strlen(answer), 0, (struct sockaddr *)&from, len) < 0)
            perror("sendto");
    }
}

int main(int argc, char **argv)
{
    char answer[256];

    prepare();
    if (argc < 2 || (strcmp(argv[1], "client") == 0 && argc < 4))
        usage("logged_in server [ADDRESS:PORT], logged_in client USER ADDRESS:PORT");
    if (strcmp(argv[1], "client") != 0)
        server(argv, argc > 2 && argv[2][0] != '-' ? argv[2] : "127.0.0.1:0");
    int fd = connect_to(argv[3], SOCK_DGRAM);
    if (fd < 0)
        fail(argv[3]);
    /* Where question or answer is lost, it is better to say so than to wait. */
    read_timeout(fd, 2000);
    if (send(fd, argv[2], strlen(argv[2]), 0) < 0)
        fail("send");
    ssize_t got = read_some(fd, answer, sizeof answer);
    if (got < 0)
        fail("no answer");
    printf("%.*s\n", (int)got, answer);
    close(fd);
    return 0;
}
