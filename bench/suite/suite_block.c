#include "suite_block.h"

#include "bench_fail.h"

#include <errno.h>

noreturn void suite_block_fail_memory(size_t bytes) {
    bench_fail(BENCH_EXIT_FAILED, "no memory for %zu bytes: %s", bytes, strerror(errno));
}

noreturn void suite_block_fail_changed(const void *at, size_t bytes) {
    bench_fail(BENCH_EXIT_FAILED, "memory was corrupted: %zu bytes at %p", bytes, at);
}
