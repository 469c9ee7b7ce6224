/* The sums and the purge orders of a domain, by hand and against the bits of its chunks after
   thousands of random changes. The chunks stand for no memory. */
#include <criterion/criterion.h>
#include <signal.h>

#include "../random.h"
#include "domain.h"
#include "os_assert.h"
#include "picture.h"

enum { CHUNKS = 9, STEPS = 20000 };

static struct domain domain;
static struct chunk chunks[CHUNKS];

/* A domain of chunks as drawn. */
static void set_up(const char *written, unsigned n) {
    domain = (struct domain){0};
    domain_init(&domain, false);
    for (unsigned i = 0; i < n; i++) {
        picture_draw(&chunks[i], written);
        domain_add_locked(&domain, &chunks[i]);
    }
}

/* The chunks of a purge order, as digits. */
static const char *order(const struct list_node *head, size_t node_offset) {
    static char text[CHUNKS + 1];
    size_t n = 0;
    LIST_FOR_EACH (node, head) {
        const char *chunk = (const char *)node - node_offset;
        text[n++] = (char)('0' + (size_t)(chunk - (const char *)chunks) / sizeof chunks[0]);
    }
    text[n] = '\0';
    return text;
}

static const char *dirty_order(void) {
    return order(&domain.dirty_chunks, offsetof(struct chunk, dirty_node));
}

static const char *lazy_order(void) {
    return order(&domain.lazy_chunks, offsetof(struct chunk, lazy_node));
}

static void expect_sums(size_t used, size_t dirty, size_t lazy, size_t busy) {
    cr_assert_eq(domain.used, used);
    cr_assert_eq(domain.dirty, dirty);
    cr_assert_eq(domain.lazy, lazy);
    cr_assert_eq(domain.busy, busy);
    cr_assert_eq(atomic_load(&domain.purgeable), dirty + lazy);
    domain_check_locked(&domain);
}

Test(domain, a_new_one_is_empty) {
    set_up(".", 0);
    expect_sums(0, 0, 0, 0);
    cr_assert_str_eq(dirty_order(), "");
    cr_assert_str_eq(lazy_order(), "");
}

Test(domain, a_chunk_joins_and_leaves_with_its_granules) {
    set_up("aaadd~.", 2);
    expect_sums(6, 4, 2, 0);
    cr_assert_eq(domain.chunks, 2u);
    cr_assert_eq(chunks[1].domain, &domain);
    domain_remove_locked(&domain, &chunks[1]);
    expect_sums(3, 2, 1, 0);
    cr_assert_eq(domain.chunks, 1u);
    cr_assert_null(chunks[1].domain);
    cr_assert_str_eq(dirty_order(), "0");
    cr_assert_str_eq(lazy_order(), "0");
    expect_picture(&chunks[1], "aaadd~.");
}

Test(domain, taking_counts_what_each_granule_was) {
    set_up("ddd~~~...", 1);
    cr_assert(domain_take_locked(&domain, &chunks[0], 2, 5) == bits_range(2, 4));
    expect_picture(&chunks[0], "ddaaaaa.");
    expect_sums(5, 2, 0, 0);
    cr_assert(domain_take_locked(&domain, &chunks[0], 7, 1) == 0);
    expect_sums(6, 2, 0, 0);
}

Test(domain, what_is_given_back_is_dirty_or_clean_as_the_caller_says) {
    set_up("a", 1);
    domain_give_locked(&domain, &chunks[0], 0, 3, false);
    expect_picture(&chunks[0], "ddda");
    domain_give_locked(&domain, &chunks[0], 3, 2, true);
    expect_picture(&chunks[0], "ddd..a");
    expect_sums(123, 3, 0, 0);
}

Test(domain, a_purge_goes_through_busy) {
    set_up("ad~~.", 1);
    domain_start_purge_locked(&domain, &chunks[0], bits_range(1, 2));
    expect_picture(&chunks[0], "abb~.");
    expect_sums(1, 0, 1, 2);
    domain_end_purge_locked(&domain, &chunks[0], bits_range(1, 2), bits_range(1, 1),
                            bits_range(2, 1));
    expect_picture(&chunks[0], "a~.~.");
    expect_sums(1, 0, 2, 0);
}

Test(domain, what_a_purge_was_refused_is_dirty_again) {
    set_up("addd.", 1);
    domain_start_purge_locked(&domain, &chunks[0], bits_range(1, 3));
    domain_end_purge_locked(&domain, &chunks[0], bits_range(1, 3), bits_range(2, 1), 0);
    expect_picture(&chunks[0], "ad~d.");
    expect_sums(1, 2, 1, 0);
}

Test(domain, a_purge_may_end_in_parts) {
    set_up("dddd.", 1);
    domain_start_purge_locked(&domain, &chunks[0], bits_range(0, 4));
    domain_end_purge_locked(&domain, &chunks[0], bits_range(0, 2), bits_range(0, 2), 0);
    expect_picture(&chunks[0], "~~bb.");
    domain_end_purge_locked(&domain, &chunks[0], bits_range(2, 2), 0, bits_range(2, 2));
    expect_picture(&chunks[0], "~~...");
    expect_sums(0, 0, 2, 0);
}

Test(domain, around_a_purge_others_may_take_and_give) {
    set_up("aadd.", 1);
    domain_start_purge_locked(&domain, &chunks[0], bits_range(2, 2));
    domain_give_locked(&domain, &chunks[0], 0, 1, false);
    domain_take_locked(&domain, &chunks[0], 4, 1);
    expect_picture(&chunks[0], "dabba.");
    domain_end_purge_locked(&domain, &chunks[0], bits_range(2, 2), bits_range(2, 2), 0);
    expect_picture(&chunks[0], "da~~a.");
    expect_sums(2, 1, 2, 0);
}

/* --- the purge orders --- */

Test(domain, chunks_are_listed_in_the_order_in_which_they_became_dirty) {
    set_up("a", 4);
    domain_give_locked(&domain, &chunks[2], 0, 1, false);
    domain_give_locked(&domain, &chunks[0], 0, 1, false);
    domain_give_locked(&domain, &chunks[3], 0, 1, false);
    cr_assert_str_eq(dirty_order(), "203");
    domain_give_locked(&domain, &chunks[2], 1, 1, false); /* was dirty before */
    cr_assert_str_eq(dirty_order(), "203");
}

Test(domain, a_chunk_that_was_used_up_comes_last_when_it_is_dirty_again) {
    set_up("ad", 3);
    cr_assert_str_eq(dirty_order(), "012");
    domain_take_locked(&domain, &chunks[0], 1, 127);
    cr_assert_str_eq(dirty_order(), "12");
    domain_give_locked(&domain, &chunks[0], 5, 1, false);
    cr_assert_str_eq(dirty_order(), "120");
}

Test(domain, a_chunk_that_is_all_busy_is_in_no_order) {
    set_up("ad~a", 2);
    domain_start_purge_locked(&domain, &chunks[0], bits_range(1, 2));
    cr_assert_str_eq(dirty_order(), "1");
    cr_assert_str_eq(lazy_order(), "1");
    domain_end_purge_locked(&domain, &chunks[0], bits_range(1, 2), bits_range(1, 2), 0);
    cr_assert_str_eq(dirty_order(), "1");
    cr_assert_str_eq(lazy_order(), "10");
}

Test(domain, times_are_kept_of_the_oldest_granule) {
    set_up("ad.", 1);
    chunks[0].dirty_since_ns = 5; /* long ago */
    domain_take_locked(&domain, &chunks[0], 2, 1);
    domain_give_locked(&domain, &chunks[0], 2, 1, false);
    cr_assert_eq(chunks[0].dirty_since_ns, 5u);
    domain_take_locked(&domain, &chunks[0], 1, 2);
    domain_give_locked(&domain, &chunks[0], 1, 1, false);
    cr_assert_gt(chunks[0].dirty_since_ns, 5u);
}

Test(domain, the_policy_hears_of_every_low_level) {
    set_up("dddddddd.", 1);
    domain.decay.low = domain.dirty;
    domain_take_locked(&domain, &chunks[0], 0, 5);
    domain_give_locked(&domain, &chunks[0], 0, 5, false);
    cr_assert_eq(domain.decay.low, 3u);
    domain_remove_locked(&domain, &chunks[0]);
    cr_assert_eq(domain.decay.low, 0u);
}

Test(domain, a_chunk_with_a_refused_range_waits_in_a_list_of_its_own) {
    set_up("add.", 2);
    domain_set_refused_locked(&domain, &chunks[0], true);
    cr_assert_str_eq(dirty_order(), "1");
    cr_assert_eq(list_first(&domain.refused_chunks), &chunks[0].dirty_node);
    expect_sums(2, 4, 0, 0);
    cr_assert_eq(domain_decaying_locked(&domain), 2u);
    domain_set_refused_locked(&domain, &chunks[0], false);
    cr_assert_str_eq(dirty_order(), "10");
    cr_assert_eq(domain_decaying_locked(&domain), 4u);
    domain_check_locked(&domain);
}

/* --- huge pages --- */

Test(domain, dirty_granules_on_huge_pages_do_not_decay) {
    set_up("ad.", 2);
    domain_remove_locked(&domain, &chunks[0]);
    chunks[0].huge = true;
    domain_add_locked(&domain, &chunks[0]);
    expect_sums(2, 2, 0, 0);
    cr_assert_eq(domain.held, 1u);
    cr_assert_eq(domain_decaying_locked(&domain), 1u);
    cr_assert_str_eq(dirty_order(), "1");
    domain_remove_locked(&domain, &chunks[0]);
    cr_assert_eq(domain.held, 0u);
    domain_check_locked(&domain);
}

Test(domain, a_huge_page_is_listed_by_how_much_of_it_is_in_use) {
    set_up(".", 1);
    domain_remove_locked(&domain, &chunks[0]);
    chunks[0].huge = true;
    domain_add_locked(&domain, &chunks[0]);
    domain_take_locked(&domain, &chunks[0], 0, CHUNK_SPARSE_MAX + 2);
    cr_assert_eq(chunks[0].order, CHUNK_ORDER_NONE);
    domain_give_locked(&domain, &chunks[0], 0, 1, false);
    cr_assert_eq(list_first(&domain.held_chunks), &chunks[0].dirty_node);
    domain_give_locked(&domain, &chunks[0], 1, 1, false);
    cr_assert_eq(list_first(&domain.sparse_chunks), &chunks[0].dirty_node);
    cr_assert(list_is_empty(&domain.held_chunks));
    cr_assert_eq(domain.held, 2u);
    domain_check_locked(&domain);
    domain_dirty_clean_locked(&domain, &chunks[0]);
    cr_assert_eq(domain.held, (size_t)CHUNK_GRANULES - CHUNK_SPARSE_MAX);
    chunks[0].huge = false; /* broken up, and purged in part */
    domain_start_purge_locked(&domain, &chunks[0], bits_low(1));
    cr_assert_eq(domain.held, 0u);
    cr_assert_str_eq(dirty_order(), "0");
    domain_check_locked(&domain);
}

Test(domain, lazy_chunks_bring_their_age_with_them) {
    set_up("a~.", 3);
    domain_remove_locked(&domain, &chunks[0]);
    chunks[1].lazy_since_ns = 100;
    chunks[2].lazy_since_ns = 300;
    chunks[0].lazy_since_ns = 200;
    domain_add_locked(&domain, &chunks[0]);
    cr_assert_str_eq(lazy_order(), "102");
    cr_assert_eq(chunks[0].lazy_since_ns, 200u);
}

#if FALLOW_DEBUG

Test(domain, check_finds_a_wrong_sum, .signal = SIGABRT) {
    set_up("ad.", 2);
    domain.dirty--;
    domain_check_locked(&domain);
}

Test(domain, check_finds_a_chunk_in_the_wrong_order, .signal = SIGABRT) {
    set_up("ad.", 2);
    list_push_back(&domain.lazy_chunks, &chunks[0].lazy_node);
    domain_check_locked(&domain);
}

#endif

/* --- random changes --- */

static void check_all(void) {
    size_t used = 0, dirty = 0, lazy = 0, busy = 0, members = 0;
    size_t listed_dirty = strlen(dirty_order()), listed_lazy = strlen(lazy_order());
    uint64_t last = 0;
    for (unsigned i = 0; i < CHUNKS; i++) {
        struct chunk *chunk = &chunks[i];
        chunk_check(chunk);
        if (chunk->domain != &domain)
            continue;
        members++;
        used += bits_count(chunk->used);
        dirty += bits_count(chunk->dirty);
        lazy += bits_count(chunk->lazy);
        busy += bits_count(chunk->busy);
        listed_dirty -= chunk->dirty != 0;
        listed_lazy -= chunk->lazy != 0;
        cr_assert_eq(list_is_empty(&chunk->dirty_node), chunk->dirty == 0);
        cr_assert_eq(list_is_empty(&chunk->lazy_node), chunk->lazy == 0);
    }
    cr_assert_eq(domain.chunks, members);
    cr_assert_eq(listed_dirty, 0u);
    cr_assert_eq(listed_lazy, 0u);
    expect_sums(used, dirty, lazy, busy);
    LIST_FOR_EACH (node, &domain.dirty_chunks) {
        uint64_t since = LIST_ENTRY(node, struct chunk, dirty_node)->dirty_since_ns;
        cr_assert_geq(since, last);
        last = since;
    }
}

/* Some granules of a set. */
static bits_t some_of(bits_t set, struct random *r) {
    bits_t mask = (bits_t)random_next(r) << 64 | random_next(r);
    return random_below(r, 3) == 0 ? set : set & mask;
}

static void random_give(struct chunk *chunk, struct random *r) {
    if (chunk->used == 0)
        return;
    unsigned first = bits_first(chunk->used);
    unsigned n = 1 + random_below(r, bits_run_from(chunk->used, first));
    domain_give_locked(&domain, chunk, first, n, random_below(r, 4) == 0);
}

static void random_take(struct chunk *chunk, struct random *r) {
    unsigned n = 1 + random_below(r, 40);
    unsigned first = chunk_find(chunk, n, 1);
    if (first < CHUNK_GRANULES)
        domain_take_locked(&domain, chunk, first, n);
}

static void random_change(struct chunk *chunk, struct random *r) {
    bits_t set = 0;
    switch (random_below(r, 6)) {
    case 0:
    case 1:
        random_take(chunk, r);
        break;
    case 2:
        random_give(chunk, r);
        break;
    case 3:
        set = some_of(random_below(r, 2) == 0 ? chunk->dirty : chunk->lazy, r);
        if (set != 0)
            domain_start_purge_locked(&domain, chunk, set);
        break;
    case 4:
        set = some_of(chunk->busy, r);
        bits_t lazy = some_of(set, r);
        domain_end_purge_locked(&domain, chunk, set, lazy, some_of(set & ~lazy, r));
        break;
    default:
        if (chunk->busy == 0 && random_below(r, 8) == 0)
            domain_remove_locked(&domain, chunk);
    }
}

Test(domain, sums_and_orders_equal_the_bits_after_thousands_of_changes) {
    struct random r = {13};
    set_up(".", CHUNKS);
    for (unsigned step = 0; step < STEPS; step++) {
        struct chunk *chunk = &chunks[random_below(&r, CHUNKS)];
        if (chunk->domain == NULL)
            domain_add_locked(&domain, chunk);
        else
            random_change(chunk, &r);
        if (step % 8 == 0)
            check_all();
    }
}
