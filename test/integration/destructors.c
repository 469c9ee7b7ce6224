/*
 * malloc, realloc and free inside pthread_key destructors, in every one of the iterations that POSIX
 * allows: by then the allocator's own thread state may be gone already.
 */
#include <limits.h>
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { KEYS = 4, ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - CHECK_SANITIZED };

static pthread_key_t keys[KEYS];
static atomic_size_t calls;

struct note {
    size_t round;
    size_t key;
    unsigned char contents[1000];
};

static struct note *note_make(size_t key, size_t round) {
    struct note *note = malloc(sizeof *note);
    CHECK(note != NULL);
    note->key = key;
    note->round = round;
    pattern_fill(note->contents, sizeof note->contents, key * 100 + round);
    return note;
}

static void destroy(void *argument) {
    struct note *note = argument;
    CHECK(pattern_holds(note->contents, sizeof note->contents, note->key * 100 + note->round));
    atomic_fetch_add(&calls, 1);
    size_t key = note->key;
    size_t round = note->round;
    void *large = malloc(400000);
    CHECK(large != NULL);
    memset(large, 1, 400000);
    void *zeroed = calloc(10, 100);
    CHECK(zeroed && pattern_not_zero_at(zeroed, 1000) == 1000);
    memset(zeroed, 1, 1000);
    zeroed = realloc(zeroed, 70000);
    CHECK(zeroed != NULL);
    free(large);
    free(zeroed);
    free(note);
    if (round + 1 < ROUNDS) {
        CHECK(pthread_setspecific(keys[key], note_make(key, round + 1)) == 0);
    }
}

static void *body(void *argument) {
    (void)argument;
    for (size_t i = 0; i < KEYS; i++) {
        CHECK(pthread_setspecific(keys[i], note_make(i, 0)) == 0);
    }
    void *block = malloc(100);
    KEEP(block);
    free(block);
    return NULL;
}

/* A thread that has never allocated before its destructor does. (The allocator learns of such a
   thread's end late, and the thread sanitizer has taken leave of it by then.) */
static void *silent(void *argument) {
    CHECK(pthread_setspecific(keys[0], argument) == 0);
    return NULL;
}

int main(void) {
    for (size_t i = 0; i < KEYS; i++) {
        CHECK(pthread_key_create(&keys[i], destroy) == 0);
    }
    size_t rounds = check_scaled(400);
    for (size_t i = 0; i < rounds; i++) {
        pthread_t threads[4];
        for (size_t j = 0; j < 3; j++) {
            threads[j] = threads_start(body, NULL);
        }
        if (!CHECK_SANITIZED) {
            threads[3] = threads_start(silent, note_make(0, 0));
        }
        for (size_t j = 0; j < (CHECK_SANITIZED ? 3 : 4); j++) {
            threads_join(threads[j]);
        }
    }
    size_t expected = rounds * (3 * KEYS + !CHECK_SANITIZED) * ROUNDS;
    CHECK_THAT(atomic_load(&calls) == expected, "%zu destructor calls, not %zu",
               atomic_load(&calls), expected);
    under_test_check_law();
    return 0;
}
