#include "allocx.h"

#include <stdint.h>
#include <string.h>

#include "alloc.h"
#include "classes.h"
#include "geometry.h"

enum { ALLOCX_LG_ALIGN = 0x3f, ALLOCX_ZERO = 0x40 };

static size_t allocx_align(int flags) {
    return (size_t)1 << ((unsigned)flags & ALLOCX_LG_ALIGN);
}

/* Zeroes up to the usable size: what a later growth clears begins there. */
void *allocx_malloc(size_t size, int flags) {
    size_t align = allocx_align(flags);
    if (((unsigned)flags & ALLOCX_ZERO) == 0)
        return alloc_block(size, align, false);
    return alloc_block(max_size(size, alloc_good_size(size, align)), align, true);
}

static void allocx_zero(char *p, size_t from) {
    size_t to = alloc_usable_size(p);
    if (to > from)
        memset(p + from, 0, to - from);
}

/* A new block, the contents up to what is usable of both, and the old one freed. */
static void *allocx_move(void *p, size_t size, size_t align) {
    void *q = alloc_block(size, align, false);
    if (q == NULL)
        return NULL;
    memcpy(q, p, min_size(alloc_usable_size(q), alloc_usable_size(p)));
    alloc_free(p);
    return q;
}

void *allocx_realloc(void *p, size_t size, int flags) {
    size_t align = allocx_align(flags), usable = alloc_usable_size(p);
    void *q;
    if ((uintptr_t)p % align == 0 && alloc_good_size(size, align) == usable)
        q = p;
    else if (size > CLASS_MAX_BYTES && usable > CLASS_MAX_BYTES && align <= GRANULE_BYTES)
        q = alloc_realloc(p, size); /* large blocks begin at granules */
    else
        q = allocx_move(p, size, align);
    if (q != NULL && ((unsigned)flags & ALLOCX_ZERO) != 0)
        allocx_zero(q, usable);
    return q;
}

size_t allocx_resize(void *p, size_t size, size_t extra, int flags) {
    size_t usable = alloc_usable_size(p);
    size_t most = size > SIZE_MAX - extra ? SIZE_MAX : size + extra;
    size_t now = alloc_resize(p, size, most);
    if (now > usable && ((unsigned)flags & ALLOCX_ZERO) != 0)
        allocx_zero(p, usable);
    return now;
}

size_t allocx_good_size(size_t size, int flags) {
    return alloc_good_size(size, allocx_align(flags));
}
