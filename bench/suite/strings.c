// strings: a text is cut into words, each copied into a block of its own and looked up in a hash
// table, which keeps it if it is new and counts it. At the end of the text the words are counted,
// all are dropped, and the text begins anew.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

#include <string.h>

enum { WORD_LEAST = 2, WORD_MOST = 15, BUCKETS = 1 << 14 };

static uint64_t text_words = 200000;
static uint64_t vocabulary = 40000;
static char *text;

struct entry {
    struct entry *next;
    char *word;
    uint64_t hash;
    uint64_t count;
};

struct table {
    struct entry *buckets[BUCKETS];
    uint64_t added; // words, repeated ones too
};

// The same number always gives the same word. Low numbers are picked more often.
static char *write_word(char *at, uint64_t seed, struct bench_random *random) {
    uint64_t number = bench_random_below(random, 1 + bench_random_below(random, vocabulary));
    struct bench_random letters = bench_random_seeded(seed, number + 1);
    for (size_t left = suite_size_uniform(&letters, WORD_LEAST, WORD_MOST); left != 0; left--)
        *at++ = (char)('a' + bench_random_below(&letters, 26));
    *at++ = ' ';
    return at;
}

static void prepare(const struct suite_options *options) {
    struct bench_random random = bench_random_seeded(options->seed, 0);
    text = suite_block_alloc(text_words * (WORD_MOST + 1) + 1);
    char *at = text;
    for (uint64_t i = 0; i < text_words; i++)
        at = write_word(at, options->seed, &random);
    *at = '\0';
}

static uint64_t hash_word(const char *word) {
    uint64_t hash = 0;
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static void add(struct table *table, const char *from, size_t length) {
    char *word = suite_block_alloc(length + 1);
    memcpy(word, from, length);
    word[length] = '\0';
    uint64_t hash = hash_word(word);
    struct entry **bucket = &table->buckets[hash % BUCKETS], *entry = *bucket;
    table->added++;
    while (entry && (entry->hash != hash || strcmp(entry->word, word) != 0))
        entry = entry->next;
    if (entry) {
        entry->count++;
        free(word);
        return;
    }
    entry = suite_block_alloc(sizeof *entry);
    *entry = (struct entry){*bucket, word, hash, 1};
    *bucket = entry;
}

static void drop_all(struct table *table) {
    uint64_t counted = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *entry = table->buckets[i]; entry; entry = entry->next)
            counted += entry->count;
    if (counted != table->added)
        suite_block_fail_changed(table, sizeof *table);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct entry *entry = table->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            if (hash_word(entry->word) != entry->hash)
                suite_block_fail_changed(entry->word, strlen(entry->word) + 1);
            free(entry->word);
            free(entry);
        }
    memset(table, 0, sizeof *table);
}

static void body(const struct suite_options *options, unsigned index) {
    struct table *table = suite_block_zalloc(1, sizeof *table);
    const char *at = text;
    for (uint64_t left = suite_share(options->work, options->threads, index); left != 0; left--) {
        size_t length = (size_t)(strchr(at, ' ') - at);
        add(table, at, length);
        at += length + 1;
        if (*at == '\0') {
            drop_all(table);
            at = text;
        }
    }
    drop_all(table);
    free(table);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {
    {"words", SUITE_WHOLE, &text_words, 1, 1 << 28, "words of the text"},
    {"vocabulary", SUITE_WHOLE, &vocabulary, 1, 1 << 28, "different words that there are"},
    {0}};

const struct suite_shape suite_strings = {
    .name = "strings",
    .summary = "A text cut into words, which a hash table holds and counts",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each on its own with the same text",
    .work = 5000000,
    .work_help = "words, all threads together",
    .extras = extras,
    .prepare = prepare,
    .run = run,
};
