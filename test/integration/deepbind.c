/*
 * There is one heap, also for a library that is opened with RTLD_DEEPBIND: what it allocates, what libc allocates for it, and
 * what it is handed can be freed on either side. And the library is found where this program's own headers say
 * ($ORIGIN), though dlopen is Fallow's.
 */
#include <stdio.h>

#include "under_test.h"

union symbol {
    void *object;
    char *(*print)(int);
    char *(*copy)(const char *);
    void *(*malloc)(size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
};

static union symbol find(void *library, const char *name) {
    union symbol symbol = {.object = dlsym(library, name)};
    CHECK_THAT(symbol.object, "%s", dlerror());
    return symbol;
}

/* Freed on either side in turn, and known to the malloc in use. */
static void free_somewhere(void *p, void (*deep_free)(void *)) {
    static unsigned turn;
    CHECK(p && malloc_usable_size(p) > 0);
    turn++ % 2 == 0 ? deep_free(p) : free(p);
}

static const char *const second_names[] = {"__libc_malloc", "__libc_valloc", "__libc_pvalloc",
                                           "valloc", "pvalloc"};

int main(void) {
    under_test_needs_fallow();
    void *library = dlopen("libcheck_deepbind.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    CHECK_THAT(library, "%s", dlerror());
    void (*deep_free)(void *) = find(library, "deep_free").free;
    for (int i = 0; i < 1000; i++) {
        char *text = find(library, "deep_print").print(i), expected[32];
        snprintf(expected, sizeof expected, "number %d", i);
        CHECK(text && strcmp(text, expected) == 0);
        free_somewhere(text, deep_free);
        free_somewhere(find(library, "deep_copy").copy(expected), deep_free);
        size_t size = (size_t)i * i + 1;
        char *p = find(library, "deep_malloc").malloc(size);
        CHECK(p != NULL);
        memset(p, i, size);
        p = i % 2 ? realloc(p, size * 3) : find(library, "deep_realloc").realloc(p, size * 3);
        CHECK(p && p[0] == (char)i && p[size - 1] == (char)i);
        free_somewhere(p, deep_free);
        free_somewhere(malloc(size), deep_free);
    }
    /* Who asks libc by name gets the same ones. */
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    CHECK(libc != NULL);
    free_somewhere(find(libc, "malloc").malloc(100), find(libc, "free").free);
    CHECK(dlclose(library) == 0);
    library = dlmopen(LM_ID_BASE, "libcheck_deepbind.so", RTLD_NOW | RTLD_DEEPBIND);
    CHECK_THAT(library, "%s", dlerror());
    deep_free = find(library, "deep_free").free;
    free_somewhere(find(library, "deep_print").print(1), deep_free);
    free_somewhere(find(library, "deep_copy").copy("text"), deep_free);
    /* glibc's are all replaced, also by its second names. */
    for (size_t i = 0; i < sizeof second_names / sizeof *second_names; i++)
        free_somewhere(find(libc, second_names[i]).malloc(100), deep_free);
    CHECK(dlclose(library) == 0);
    under_test_check_law();
    return 0;
}
