/*
 * A pipeline: one thread only allocates, the next only frees. What the consumer gives back must reach
 * the producer again, so the resident set stays flat however long it runs; contents are verified at
 * the end of the pipe.
 */
#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { PIPE = 1024, WARM_ROUNDS = 200 };

struct pipe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned char *blocks[PIPE];
    size_t sizes[PIPE];
    size_t head, tail;
    size_t total;
    size_t resident_when_warm;
};

static size_t size_of(size_t index) {
    uint64_t random = index;
    uint64_t value = pattern_random(&random);
    return value % 50 == 0 ? 20000 + value % 100000 : 16 + value % 2000;
}

static void *consume(void *argument) {
    struct pipe *pipe = argument;
    size_t warm = (size_t)WARM_ROUNDS * 100;
    for (size_t i = 0; i < pipe->total; i++) {
        pthread_mutex_lock(&pipe->lock);
        while (pipe->head == pipe->tail) {
            pthread_cond_wait(&pipe->changed, &pipe->lock);
        }
        unsigned char *block = pipe->blocks[pipe->tail % PIPE];
        size_t size = pipe->sizes[pipe->tail % PIPE];
        pipe->tail++;
        pthread_cond_signal(&pipe->changed);
        pthread_mutex_unlock(&pipe->lock);
        CHECK_THAT(pattern_holds(block, size, i), "block %zu of %zu bytes changed", i, size);
        free(block);
        if (i == warm) {
            pipe->resident_when_warm = resident_now().rss_bytes;
        }
    }
    return NULL;
}

static void *produce(void *argument) {
    struct pipe *pipe = argument;
    for (size_t i = 0; i < pipe->total; i++) {
        size_t size = size_of(i);
        unsigned char *block = malloc(size);
        CHECK(block != NULL);
        pattern_fill(block, size, i);
        pthread_mutex_lock(&pipe->lock);
        while (pipe->head - pipe->tail == PIPE) {
            pthread_cond_wait(&pipe->changed, &pipe->lock);
        }
        pipe->blocks[pipe->head % PIPE] = block;
        pipe->sizes[pipe->head % PIPE] = size;
        pipe->head++;
        pthread_cond_signal(&pipe->changed);
        pthread_mutex_unlock(&pipe->lock);
    }
    return NULL;
}

int main(void) {
    static struct pipe pipe = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .changed = PTHREAD_COND_INITIALIZER};
    pipe.total = check_scaled(200000);
    pthread_t producer = threads_start(produce, &pipe);
    pthread_t consumer = threads_start(consume, &pipe);
    threads_join(producer);
    threads_join(consumer);
    size_t after = resident_now().rss_bytes;
    size_t limit = pipe.resident_when_warm + ((size_t)16 << 20);
    CHECK_THAT(pipe.resident_when_warm == 0 || after < limit,
               "RSS went from %zu when warm to %zu: what the consumer frees is hoarded",
               pipe.resident_when_warm, after);
    under_test_check_law();
    return 0;
}
