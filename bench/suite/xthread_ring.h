#ifndef XTHREAD_RING_H
#define XTHREAD_RING_H

// A bounded queue of batches of pointers between threads. Pushing waits while it is full, popping
// while it is empty; the lock is taken once a batch.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct xthread_ring {
    size_t depth, batch;   // batches it holds; pointers that a batch holds
    pthread_mutex_t mutex; // of all below
    pthread_cond_t filled, emptied;
    char **blocks; // depth * batch
    size_t *counts;
    uint64_t pushed, popped;
    unsigned producers; // that have not closed it yet
};

void xthread_ring_open(struct xthread_ring *ring, size_t depth, size_t batch, unsigned producers);
void xthread_ring_push(struct xthread_ring *ring, char *const *blocks, size_t count);
void xthread_ring_close(struct xthread_ring *ring); // by each producer, after its last push
void xthread_ring_destroy(struct xthread_ring *ring);

// Returns how many blocks; 0: all producers have closed the ring, and it is empty.
size_t xthread_ring_pop(struct xthread_ring *ring, char **blocks);

#endif
