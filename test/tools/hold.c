/* A process to look at. It does what it is told, prints "ready", and stays as it is, or at work, until it is killed.
     hold lazy BYTES      has mapped and written so much, and made it lazy
     hold reused BYTES    the same, and has written it again
     hold heap BYTES      has allocated so much in blocks of 16 to 3,000 bytes and some large ones, and freed four in five
     hold freed BYTES     has allocated so much in blocks of 500,000 bytes, freed nine in ten, and called on for half a second
     hold churn THREADS   threads that allocate and free all sizes, for ever */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_FREE
#define MADV_FREE 8
#endif

static void hold_mapped(size_t bytes, int again) {
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    (void)madvise(p, bytes, MADV_NOHUGEPAGE);
    memset(p, 1, bytes);
    if (madvise(p, bytes, MADV_FREE) != 0)
        exit(1);
    if (again)
        memset(p, 2, bytes);
}

static void hold_heap(size_t bytes) {
    enum { MEAN = 1508 };
    size_t count = bytes / MEAN, live = 0;
    void **blocks = calloc(count, sizeof *blocks);
    if (blocks == NULL)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        size_t size = i % 5000 == 0 ? 3000000 : 16 + i * 7919 % 2985;
        blocks[i] = malloc(size);
        if (blocks[i] == NULL)
            exit(1);
        memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i < count; i++) {
        if (i % 5 == 0)
            live++;
        else
            free(blocks[i]);
    }
    printf("%zu live\n", live);
}

static void hold_freed(size_t bytes) {
    enum { BLOCK = 500000, CALLS = 50, REST_US = 10000 };
    static void *blocks[1024];
    size_t count = bytes / BLOCK < 1024 ? bytes / BLOCK : 1024;
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(BLOCK);
        if (blocks[i] == NULL)
            exit(1);
        memset(blocks[i], 1, BLOCK);
    }
    for (size_t i = 0; i < count; i++)
        if (i % 10 != 0)
            free(blocks[i]);
    for (int i = 0; i < CALLS; i++) { /* purges happen in calls of the allocator */
        free(malloc(3 * BLOCK));
        (void)usleep(REST_US);
    }
}

static void *hold_churn(void *number) {
    enum { SLOTS = 4096 };
    static __thread void *slots[SLOTS];
    for (uint64_t random = (uintptr_t)number * 977 + 1;;) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        size_t slot = random >> 52, size = (size_t)1 << (4 + (random >> 32) % 16);
        free(slots[slot]);
        slots[slot] = malloc(size);
        if (slots[slot] != NULL)
            memset(slots[slot], 1, size < 64 ? size : 64);
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *what = argc == 3 ? argv[1] : "";
    size_t amount = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (strcmp(what, "lazy") == 0 || strcmp(what, "reused") == 0) {
        hold_mapped(amount, what[0] == 'r');
    } else if (strcmp(what, "heap") == 0) {
        hold_heap(amount);
    } else if (strcmp(what, "freed") == 0) {
        hold_freed(amount);
    } else if (strcmp(what, "churn") == 0) {
        for (size_t i = 0; i < amount; i++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, hold_churn, (void *)i) != 0)
                return 1;
        }
    } else {
        return 2;
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
