/* Making a cache, and its bins' rooms. */
#include "cache.h"

struct cache cache_none;

_Static_assert(CACHE_SLOTS <= UINT8_MAX, "counted in bytes");

void cache_open(struct cache *cache, unsigned bin) {
    void **base = cache_base(cache, bin);
    __atomic_store_n(&cache->bottom[bin], base, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->limit[bin], base + CACHE_READ(cache->room[bin]), __ATOMIC_RELEASE);
}

unsynchronised void cache_count(struct cache *cache, size_t counts[CLASS_COUNT]) {
    for (unsigned bin = 1; bin < CACHE_BINS; bin++)
        if (cache->limit[bin] != CACHE_DRAINED && cache->top[bin] != NULL)
            counts[bin - 1] += (size_t)(cache->top[bin] - cache_base(cache, bin));
}

void cache_init(struct cache *cache) {
    for (size_t i = 0; i < ARRAY_COUNT(cache->bin_of); i++)
        cache->bin_of[i] = (uint8_t)(class_of_size(i * 16) + 1);
    for (unsigned bin = 1; bin < CACHE_BINS; bin++) {
        cache->fill[bin] = 1;
        CACHE_WRITE(cache->room[bin], (uint8_t)cache_first_room(bin));
        cache->spilled[bin] = false;
        CACHE_WRITE(cache->top[bin], cache_base(cache, bin));
        cache_open(cache, bin);
    }
    cache->room_bytes = 0;
    atomic_store_explicit(&cache->seen, 0, memory_order_relaxed);
}
