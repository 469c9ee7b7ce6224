/* The library is opened, used by a thread, and closed before that thread ends: what runs at the thread's
   end must still be there. ($1: libfallow.so; this program's own malloc is another) */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"
#include "threads.h"

static void *(*lib_malloc)(size_t);
static void (*lib_free)(void *);
static atomic_int stage;

static void *use_and_wait(void *argument) {
    void *block = lib_malloc(100);
    CHECK(block != NULL);
    lib_free(block);
    atomic_store(&stage, 1);
    while (atomic_load(&stage) != 2)
        threads_sleep_ms(1);
    return argument;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    for (int round = 0; round < 20; round++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        CHECK_THAT(library != NULL, "%s", dlerror());
        *(void **)&lib_malloc = dlsym(library, "fallow_malloc");
        *(void **)&lib_free = dlsym(library, "fallow_free");
        CHECK(lib_malloc != NULL && lib_free != NULL);
        pthread_t thread;
        atomic_store(&stage, 0);
        CHECK(pthread_create(&thread, NULL, use_and_wait, NULL) == 0);
        while (atomic_load(&stage) != 1)
            threads_sleep_ms(1);
        CHECK(dlclose(library) == 0);
        atomic_store(&stage, 2);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    return 0;
}
