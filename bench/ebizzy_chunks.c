#include "ebizzy_chunks.h"

#include "bench_fail.h"
#include "ebizzy_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

// Only whole pages of the chunk: what lies around it belongs to the allocator.
static void protect(const uint64_t *chunk, size_t bytes, int protection) {
    uintptr_t page_mask = page_size() - 1;
    uintptr_t start = ((uintptr_t)chunk + page_mask) & ~page_mask;
    uintptr_t end = ((uintptr_t)chunk + bytes) & ~page_mask;
    if (start < end && mprotect((void *)start, end - start, protection) != 0)
        bench_fail(BENCH_EXIT_FAILED, "mprotect of a chunk failed: %s", strerror(errno));
}

static void protect_even(struct ebizzy_chunks *set, const struct ebizzy_options *options,
                         int protection) {
    for (size_t c = 0; options->protect_even && c < options->chunks; c += 2)
        protect(set->words[c], options->chunk_bytes, protection);
}

static void fill(uint64_t *words, size_t bytes, size_t chunk) {
    size_t count = bytes / sizeof *words;
    for (size_t i = 0; i < count; i++)
        words[i] = ebizzy_chunks_word(chunk, i);
    memset(words + count, 0, bytes % sizeof *words);
}

struct ebizzy_chunks ebizzy_chunks_create(const struct ebizzy_options *options) {
    struct ebizzy_chunks set = {.words = ebizzy_memory_table(options->chunks * sizeof *set.words)};
    void **holes = options->holes ? ebizzy_memory_table(options->chunks * sizeof *holes) : NULL;

    for (size_t c = 0; c < options->chunks; c++) {
        set.words[c] = ebizzy_memory_allocate(options->use_mmap, options->chunk_bytes, "a chunk");
        if (holes)
            holes[c] = ebizzy_memory_allocate(false, page_size(), "a hole");
        fill(set.words[c], options->chunk_bytes, c);
    }
    for (size_t c = 0; holes && c < options->chunks; c++)
        ebizzy_memory_release(false, holes[c], page_size());
    protect_even(&set, options, PROT_READ);
    return set;
}

void ebizzy_chunks_destroy(struct ebizzy_chunks *set, const struct ebizzy_options *options) {
    protect_even(set, options, PROT_READ | PROT_WRITE);
    for (size_t c = 0; c < options->chunks; c++)
        ebizzy_memory_release(options->use_mmap, set->words[c], options->chunk_bytes);
}
