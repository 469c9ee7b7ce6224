/* What the fast paths write lies on cache lines that nobody else writes. By the layout: so it holds for any number of
   CPUs. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "heap.h"
#include "pagemap.h"
#include "thread.h"

static size_t line_of(size_t offset) {
    return offset / CACHE_LINE;
}

static size_t last_line_of(size_t offset, size_t bytes) {
    return line_of(offset + bytes - 1);
}

Test(layout, a_heap_has_its_lines_to_itself) {
    cr_assert_eq(_Alignof(struct heap) % CACHE_LINE, 0u);
    cr_assert_eq(sizeof(struct heap) % CACHE_LINE, 0u);
    cr_assert_eq(_Alignof(struct cache) % CACHE_LINE, 0u);
}

Test(layout, a_drain_writes_no_line_that_a_malloc_writes) {
    static const struct {
        size_t offset, bytes;
    } drain[] =
        {
            {offsetof(struct cache, bottom), sizeof(((struct cache *)NULL)->bottom)},
            {offsetof(struct cache, limit), sizeof(((struct cache *)NULL)->limit)},
            {offsetof(struct cache, taken), sizeof(((struct cache *)NULL)->taken)},
            {offsetof(struct cache, seen), sizeof(((struct cache *)NULL)->seen)},
        },
      owner[] = {
          {offsetof(struct cache, top), sizeof(((struct cache *)NULL)->top)},
          {offsetof(struct cache, mark), sizeof(((struct cache *)NULL)->mark)},
          {offsetof(struct cache, slots), sizeof(((struct cache *)NULL)->slots)},
      };
    for (size_t i = 0; i < ARRAY_COUNT(drain); i++)
        for (size_t k = 0; k < ARRAY_COUNT(owner); k++)
            cr_assert(last_line_of(drain[i].offset, drain[i].bytes) < line_of(owner[k].offset) ||
                          line_of(drain[i].offset) > last_line_of(owner[k].offset, owner[k].bytes),
                      "%zu and %zu share a line", drain[i].offset, owner[k].offset);
}

Test(layout, the_page_maps_root_has_no_neighbours) {
    cr_assert(is_aligned_address(pagemap_root, CACHE_LINE));
    cr_assert_eq(sizeof pagemap_root % CACHE_LINE, 0u);
}

static void *heap_of_thread(void *unused) {
    (void)unused;
    struct heap *heap = thread_enter();
    thread_leave(heap);
    return heap;
}

Test(layout, heaps_of_two_threads_share_no_line) {
    thread_start();
    struct heap *own = heap_of_thread(NULL);
    pthread_t other;
    void *theirs = NULL;
    cr_assert_eq(pthread_create(&other, NULL, heap_of_thread, NULL), 0);
    cr_assert_eq(pthread_join(other, &theirs), 0);
    cr_assert_neq((void *)own, theirs);
    cr_assert(is_aligned_address(own, CACHE_LINE));
    cr_assert(is_aligned_address(theirs, CACHE_LINE));
}
