#ifndef SUITE_THREADS_H
#define SUITE_THREADS_H

// Threads for the shapes.

#include "suite.h"

#include <pthread.h>

// Runs the body once a thread, with indexes from 0, all starting together. One thread is the
// calling one: then none is created.
void suite_threads_run(const struct suite_options *options,
                       void (*body)(const struct suite_options *options, unsigned index));

// pthread_create, or the end of the program.
pthread_t suite_thread_start(void *(*function)(void *), void *argument);

// The part of a whole that falls to one of so many.
static inline uint64_t suite_share(uint64_t whole, unsigned parts, unsigned index) {
    return whole / parts + (index < whole % parts);
}

#endif
