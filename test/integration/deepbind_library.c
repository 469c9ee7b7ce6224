/*
 * A library for deepbind.c: opened with RTLD_DEEPBIND it finds libc's functions before those of anything preloaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *deep_print(int number);
char *deep_copy(const char *text);
void *deep_malloc(size_t size);
void *deep_realloc(void *p, size_t size);
void deep_free(void *p);

char *deep_print(int number) {
    char *text;
    return asprintf(&text, "number %d", number) > 0 ? text : NULL;
}

char *deep_copy(const char *text) {
    return strdup(text);
}

void *deep_malloc(size_t size) {
    return malloc(size);
}

void *deep_realloc(void *p, size_t size) {
    return realloc(p, size);
}

void deep_free(void *p) {
    free(p);
}
