#include "xthread_ring.h"

#include "suite_block.h"

#include <string.h>

void xthread_ring_open(struct xthread_ring *ring, size_t depth, size_t batch, unsigned producers) {
    *ring = (struct xthread_ring){.depth = depth, .batch = batch, .producers = producers};
    ring->blocks = suite_block_zalloc(depth * batch, sizeof ring->blocks[0]);
    ring->counts = suite_block_zalloc(depth, sizeof ring->counts[0]);
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->filled, NULL);
    pthread_cond_init(&ring->emptied, NULL);
}

void xthread_ring_push(struct xthread_ring *ring, char *const *blocks, size_t count) {
    pthread_mutex_lock(&ring->mutex);
    while (ring->pushed - ring->popped == ring->depth)
        pthread_cond_wait(&ring->emptied, &ring->mutex);
    size_t place = ring->pushed++ % ring->depth;
    memcpy(&ring->blocks[place * ring->batch], blocks, count * sizeof blocks[0]);
    ring->counts[place] = count;
    pthread_mutex_unlock(&ring->mutex);
    pthread_cond_signal(&ring->filled);
}

size_t xthread_ring_pop(struct xthread_ring *ring, char **blocks) {
    size_t count = 0;
    pthread_mutex_lock(&ring->mutex);
    while (ring->pushed == ring->popped && ring->producers != 0)
        pthread_cond_wait(&ring->filled, &ring->mutex);
    if (ring->pushed != ring->popped) {
        size_t place = ring->popped++ % ring->depth;
        count = ring->counts[place];
        memcpy(blocks, &ring->blocks[place * ring->batch], count * sizeof blocks[0]);
    }
    pthread_mutex_unlock(&ring->mutex);
    pthread_cond_signal(&ring->emptied);
    return count;
}

void xthread_ring_close(struct xthread_ring *ring) {
    pthread_mutex_lock(&ring->mutex);
    ring->producers--;
    pthread_mutex_unlock(&ring->mutex);
    pthread_cond_broadcast(&ring->filled);
}

void xthread_ring_destroy(struct xthread_ring *ring) {
    pthread_cond_destroy(&ring->emptied);
    pthread_cond_destroy(&ring->filled);
    pthread_mutex_destroy(&ring->mutex);
    free(ring->counts);
    free(ring->blocks);
}
