/* Starting and joining threads with the checks in one place, and a barrier of their own. */
#ifndef FALLOW_TEST_THREADS_H
#define FALLOW_TEST_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

static inline pthread_t threads_start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, argument);
    CHECK_THAT(error == 0, "pthread_create answers %d", error);
    return thread;
}

static inline void threads_join(pthread_t thread) {
    int error = pthread_join(thread, NULL);
    CHECK_THAT(error == 0, "pthread_join answers %d", error);
}

/* Runs `body` once to its end in a thread of its own. */
static inline void threads_run(void *(*body)(void *), void *argument) {
    threads_join(threads_start(body, argument));
}

static inline void threads_sleep_ms(long milliseconds) {
    struct timespec rest = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0) {}
}

/* Waits for a child and checks that it ended by itself with status 0. */
static inline void threads_reap(pid_t child) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status 0x%x",
               (unsigned)status);
}

#endif
