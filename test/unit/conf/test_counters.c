/* Counters count, from several threads too, and are listed by name. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "counters.h"

Test(counters, start_at_zero_and_add_up) {
    for (enum counter id = 0; id < COUNTER_COUNT; id++)
        cr_assert_eq(counters_read(id), 0);
    counters_add(COUNTER_lazy_advised_bytes, 4096);
    counters_add(COUNTER_lazy_advised_bytes, 1);
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), 4097);
    cr_assert_eq(counters_read(COUNTER_clean_advised_bytes), 0);
}

enum { THREADS = 4, ROUNDS = 10000 };

static void *add_many(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        counters_add(COUNTER_foreign_frees, 1);
    return unused;
}

Test(counters, lose_nothing_between_threads) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), (uint64_t)THREADS * ROUNDS);
}

Test(counters, print_one_line_each) {
    counters_add(COUNTER_chunks_mapped, 3);
    char text[4096];
    struct fmt f = fmt_start(text, sizeof text);
    counters_print(&f);
    cr_assert_not(fmt_is_full(&f));
    cr_assert_not_null(strstr(text, "  chunks_mapped: 3\n"));
    cr_assert_not_null(strstr(text, "  double_frees: 0\n"));
    unsigned lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    cr_assert_eq(lines, COUNTER_COUNT);
    cr_assert_str_eq(counters_name(COUNTER_remap_moves), "remap_moves");
}
