/* A program that is linked with libtsan.so needs that library's malloc, which tells it who has what memory. With another it
   sees races where there are none, and may never come to an end. All that can be done is to say so. */
#include <stdlib.h>

#include "os_assert.h"
#include "os_log.h"

extern void __tsan_init(void) __attribute__((__weak__));
extern void *libc_own_malloc(size_t size);

__attribute__((constructor(101))) static void sanitizer_check(void) {
    /* Where the sanitizer is in the program itself so is its malloc, and comes before Fallow's. Compilers, who may see
       that the two are one here, shall not compare them. */
    void *(*volatile used)(size_t) = malloc;
    if (&__tsan_init == NULL || used != libc_own_malloc)
        return;
    os_log_str(
        "fallow: the program is linked with ThreadSanitizer, which needs a malloc of its own; "
        "run it without Fallow\n");
    os_exit(EXIT_FAILURE);
}
