/* The report for people: every option, every term, every counter, once; whole, whoever else prints. */
#include <criterion/criterion.h>
#include <fallow/fallow.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../capture.h"
#include "../environment.h"
#include "alloc.h"
#include "counters.h"
#include "options.h"
#include "os_cgroup.h"
#include "os_file.h"
#include "report.h"

enum { TEXT_BYTES = 60000, REPORTS = 5 };

static char text[TEXT_BYTES];

static const char *print(void) {
    struct capture c = capture_start();
    report_print();
    capture_end(c, text, sizeof text);
    return text;
}

/* How many lines begin with two spaces and `name` and then `after`. */
static unsigned lines_with(const char *report, const char *name, char after) {
    char wanted[80];
    unsigned n = 0;
    int length = snprintf(wanted, sizeof wanted, "\n  %s%c", name, after);
    cr_assert(length > 0 && length < (int)sizeof wanted);
    for (const char *at = report; (at = strstr(at, wanted)) != NULL; at++)
        n++;
    return n;
}

Test(report, says_whose_it_is) {
    char wanted[80], name[32] = "";
    cr_assert_gt(os_file_read_all("/proc/self/comm", name, sizeof name), 1);
    name[strcspn(name, "\n")] = '\0';
    snprintf(wanted, sizeof wanted, "fallow report of %ld (%s)\n", (long)getpid(), name);
    cr_assert_eq(strncmp(print(), wanted, strlen(wanted)), 0, "not %s", wanted);
}

Test(report, has_every_counter_once) {
    print();
    for (enum counter id = 0; id < COUNTER_COUNT; id++)
        cr_assert_eq(lines_with(text, counters_name(id), ':'), 1u, "%s", counters_name(id));
}

Test(report, has_every_option_once) {
    static const char *const names[] = {
#define OPTION(name, type, default_value, min, max, unit, doc) #name,
#define OPTION_VALUE(constant, text, doc)
#define OPTION_ENUM(name, default_value, doc, values) #name,
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
#undef OPTION_VALUE
    };
    print();
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        cr_assert_eq(lines_with(text, names[i], ':'), 1u, "%s", names[i]);
}

static unsigned long long bytes_of(const char *report, const char *name) {
    char wanted[80];
    unsigned long long bytes = 0;
    cr_assert_eq(lines_with(report, name, ' '), 1u, "%s", name);
    snprintf(wanted, sizeof wanted, "\n  %s ", name);
    cr_assert_eq(sscanf(strstr(report, wanted) + strlen(wanted), "%llu", &bytes), 1);
    return bytes;
}

Test(report, its_terms_add_up) {
    static const char *const terms[] = {"active", "dirty", "lazy", "busy", "clean", "metadata"};
    void *kept = alloc_malloc(3000000);
    alloc_free(alloc_malloc(700000));
    print();
    unsigned long long sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(terms); i++)
        sum += bytes_of(text, terms[i]);
    cr_assert_eq(bytes_of(text, "mapped"), sum);
    cr_assert_gt(bytes_of(text, "active"), 3000000u);
    cr_assert_eq(bytes_of(text, "kernel RSS"),
                 bytes_of(text, "LazyFree in it") + bytes_of(text, "honest RSS"));
    alloc_free(kept);
}

Test(report, says_why_and_what_is_left) {
    static const char *const terms[] = {
        "live",           "rounding",      "free in slabs",      "dirty, resident",
        "lazy, resident", "on huge pages", "metadata, resident", "not Fallow's"};
    skip_under_tools();
    void *kept = memset(alloc_malloc(3000000), 1, 3000000);
    print();
    unsigned long long sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(terms); i++)
        sum += bytes_of(text, terms[i]);
    cr_assert_eq(bytes_of(text, "sum of these"), sum);
    bool too_much = lines_with(text, "too much by", ' ') == 1;
    cr_assert_eq(bytes_of(text, "the kernel's figure"),
                 too_much ? sum - bytes_of(text, "too much by")
                          : sum + bytes_of(text, "not explained"));
    alloc_free(kept);
}

Test(report, has_the_cgroup_if_there_is_one) {
    print();
    cr_assert_eq(lines_with(text, "charged to its cgroup", ' '), os_cgroup_memory_bytes() > 0);
}

Test(report, fits_its_buffer) {
    print();
    const char *last = counters_name(COUNTER_COUNT - 1);
    cr_assert_eq(lines_with(text, last, ':'), 1u);
    cr_assert_eq(text[strlen(text) - 1], '\n');
}

Test(report, allocates_nothing) {
    void *p = alloc_malloc(100);
    uint64_t chunks = counters_read(COUNTER_chunks_mapped);
    const void *free_list = thread_self.heap->current[class_of_size(100)]->free;
    print();
    cr_assert_eq(thread_self.heap->current[class_of_size(100)]->free, free_list);
    cr_assert_eq(counters_read(COUNTER_chunks_mapped), chunks);
    alloc_free(p);
}

Test(report, is_the_same_by_its_public_name) {
    struct capture c = capture_start();
    fallow_stats_print();
    capture_end(c, text, sizeof text);
    cr_assert_eq(strncmp(text, "fallow report of ", 17), 0);
}

static void *print_some(void *arg) {
    (void)arg;
    for (unsigned i = 0; i < REPORTS; i++)
        report_print();
    return NULL;
}

Test(report, those_of_two_threads_do_not_mix) {
    pthread_t other;
    print();
    size_t about = strlen(text);
    cr_assert_lt(2 * REPORTS * about, (size_t)TEXT_BYTES);
    struct capture c = capture_start();
    cr_assert_eq(pthread_create(&other, NULL, print_some, NULL), 0);
    print_some(NULL);
    pthread_join(other, NULL);
    capture_end(c, text, sizeof text);
    const char *at = text;
    for (unsigned i = 0; i < 2 * REPORTS; i++) {
        cr_assert_eq(strncmp(at, "fallow report of ", 17), 0);
        const char *next = strstr(at + 1, "fallow report of ");
        size_t length = next != NULL ? (size_t)(next - at) : strlen(at);
        cr_assert(length > about - 200 && length < about + 200);
        at += length;
    }
    cr_assert_eq(*at, '\0');
}
