/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends processes of stages: this program again, executed, never a fork of its threads.
 */
#include "isolate/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/state.h"

#define MAX_WORDS 4096u /* bytes kept of what it prints */

extern char **environ;

/* ---------------------------------------------------------------- beginning */

/* A page that neither side can make smaller under the other's hands. */
static int make_page(spawned *s) {
    s->page_file = memfd_create("tracemill-page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->page_file < 0 || ftruncate(s->page_file, sizeof(page)) != 0 ||
        fcntl(s->page_file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return errno;
    void *memory = mmap(NULL, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, s->page_file, 0);
    if (memory == MAP_FAILED)
        return errno;
    s->page = memory;
    sem_init(&s->page->helpers, 1, 0);
    return 0;
}

/* Other descriptors than these three are closed by exec, but for those that the user gave the
 * program: a profile may be /dev/fd/63. */
static int execute(spawned *s, int socket, int words) {
    char number[16];
    g_snprintf(number, sizeof number, "%d", socket);
    char *argv[] = {(char *)"tracemill", (char *)SPAWN_ARG, number, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, socket); /* stays open */
    posix_spawn_file_actions_adddup2(&actions, words, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, words, STDERR_FILENO);
    int error = posix_spawn(&s->pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int spawn(spawned *ret) {
    *ret = (spawned){.pid = -1, .socket = -1, .words = -1, .page_file = -1};
    ret->said = g_string_new(NULL);
    int sockets[2] = {-1, -1}, words[2] = {-1, -1};
    int error = make_page(ret);
    if (error == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        error = errno;
    if (error == 0 && pipe2(words, O_CLOEXEC) != 0)
        error = errno;
    ret->socket = sockets[0];
    ret->words = words[0];
    if (error == 0 && fcntl(words[0], F_SETFL, O_NONBLOCK) != 0)
        error = errno;
    if (error == 0)
        error = execute(ret, sockets[1], words[1]);
    if (sockets[1] >= 0)
        close(sockets[1]);
    if (words[1] >= 0)
        close(words[1]);
    if (error != 0)
        spawn_finish(ret);
    return error;
}

/* ---------------------------------------------------------------- what it says */

void spawn_listen(spawned *s) {
    char buffer[4096];
    ssize_t got;
    while (s->words >= 0 && (got = read(s->words, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        console_pass_on(buffer, (size_t)got);
        g_string_append_len(s->said, buffer, got);
        if (s->said->len > MAX_WORDS)
            g_string_erase(s->said, 0, (gssize)(s->said->len - MAX_WORDS));
    }
    if (s->words >= 0)
        close(s->words);
    s->words = -1;
}

char *spawn_last_words(const spawned *s) {
    g_autofree char *said = g_utf8_make_valid(s->said->str, (gssize)s->said->len);
    const char *last = strrchr(g_strchomp(said), '\n');
    return g_strdup(last != NULL ? last + 1 : said);
}

/* ---------------------------------------------------------------- ending */

spawn_end spawn_reap(spawned *s, unsigned patience_ms) {
    spawn_end end = {0};
    struct rusage usage = {0};
    struct timespec moment = {.tv_nsec = 1000000};
    pid_t ended = 0;
    for (unsigned i = 0; i < patience_ms && ended == 0; i++) {
        ended = wait4(s->pid, &end.status, WNOHANG, &usage);
        if (ended == 0)
            nanosleep(&moment, NULL);
        spawn_listen(s);
    }
    if (ended == 0) {
        end.forced = true;
        kill(s->pid, SIGKILL);
        while (wait4(s->pid, &end.status, 0, &usage) < 0 && errno == EINTR)
            continue;
    }
    spawn_listen(s);
    s->pid = -1;
    end.bytes = (uint64_t)usage.ru_maxrss * 1024;
    return end;
}

void spawn_finish(spawned *s) {
    if (s->socket >= 0)
        close(s->socket);
    if (s->words >= 0)
        close(s->words);
    if (s->page_file >= 0)
        close(s->page_file);
    if (s->page != NULL)
        munmap(s->page, sizeof(page));
    g_string_free(s->said, TRUE);
}
