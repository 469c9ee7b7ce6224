// fallow-idle: what a process holds when it has nothing to do. Fills memory with blocks, writes all
// of them, frees them or all but each Nth, says so on stdout and sleeps until its input ends. From
// then on nothing in it runs, so whoever wants to know what it holds looks at it from outside
// (bench/run purge does, by /proc/PID/smaps_rollup). One more thread sleeps from the beginning:
// allocators may do in a process with threads what they leave undone in others. The table of blocks
// comes from mmap and is gone before the sleep; what is resident then is the allocator's and the
// process's own.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_json.h"
#include "bench_number.h"
#include "bench_random.h"
#include "bench_rollup.h"
#include "which_malloc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MIXED_LEAST_BYTES = 16, // mixed sizes: each power of two up to the last is as likely as another
    MIXED_DOUBLINGS = 7,
    THREADS_MAX = 1024,
};

struct idle_options {
    size_t total_bytes;
    size_t block_bytes; // 0: mixed small sizes
    uint64_t keep;      // each Nth block is not freed; 0: none
    unsigned threads;   // that sleep
    uint64_t seed;
    bool json;
};

struct idle_blocks {
    void **table;
    size_t room, count;
    uint64_t bytes, kept_bytes, kept;
};

static void print_help(void) {
    printf("Usage: fallow-idle [options]\n"
           "Allocates, writes and frees, then sleeps until its input ends, to be looked at from\n"
           "outside.\n\n"
           "  -m, --total BYTES     allocate so much; k, m, g may follow (512m)\n"
           "  -s, --size BYTES      in blocks of this size (64k), or `mixed`: 16 B to 2 KiB\n"
           "  -k, --keep N          do not free each Nth block (0: free all)\n"
           "  -t, --threads N       threads that sleep beside the main one (1)\n"
           "      --seed N          seed of mixed sizes (1)\n"
           "      --json            print one JSON object\n"
           "      --help            print this and stop\n");
}

static struct idle_options parse(int argc, char **argv) {
    enum { SEED = 256, JSON, HELP };
    static const struct option long_options[] = {
        {"total", required_argument, NULL, 'm'}, {"size", required_argument, NULL, 's'},
        {"keep", required_argument, NULL, 'k'},  {"threads", required_argument, NULL, 't'},
        {"seed", required_argument, NULL, SEED}, {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, HELP},       {0}};
    struct idle_options options = {
        .total_bytes = (size_t)512 << 20, .block_bytes = 65536, .threads = 1, .seed = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "m:s:k:t:", long_options, NULL)) != -1) {
        switch (letter) {
        case 'm':
            options.total_bytes = bench_number_bytes("-m", optarg, 1, (size_t)1 << 46);
            break;
        case 's':
            options.block_bytes = strcmp(optarg, "mixed") == 0
                                      ? 0
                                      : bench_number_bytes("-s", optarg, 16, (size_t)1 << 40);
            break;
        case 'k':
            options.keep = bench_number_whole("-k", optarg, 0, UINT32_MAX);
            break;
        case 't':
            options.threads = (unsigned)bench_number_whole("-t", optarg, 0, THREADS_MAX);
            break;
        case SEED:
            options.seed = bench_number_whole("--seed", optarg, 0, UINT64_MAX);
            break;
        case JSON:
            options.json = true;
            break;
        case HELP:
            print_help();
            exit(EXIT_SUCCESS);
        default:
            bench_fail(BENCH_EXIT_USAGE, "try --help");
        }
    }
    if (optind < argc)
        bench_fail(BENCH_EXIT_USAGE, "'%s' is not an option; try --help", argv[optind]);
    return options;
}

static void *sleeper_main(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void start_sleepers(unsigned threads) {
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        int error = pthread_create(&thread, NULL, sleeper_main, NULL);
        if (error != 0)
            bench_fail(BENCH_EXIT_FAILED, "cannot start thread %u: %s", i + 1, strerror(error));
    }
}

static size_t next_bytes(const struct idle_options *options, struct bench_random *random) {
    if (options->block_bytes != 0)
        return options->block_bytes;
    size_t least = (size_t)MIXED_LEAST_BYTES << bench_random_below(random, MIXED_DOUBLINGS);
    return least + bench_random_below(random, least);
}

static struct idle_blocks fill(const struct idle_options *options) {
    struct idle_blocks blocks = {0};
    size_t least = options->block_bytes ? options->block_bytes : MIXED_LEAST_BYTES;
    blocks.room = options->total_bytes / least + 1;
    blocks.table = mmap(NULL, blocks.room * sizeof *blocks.table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (blocks.table == MAP_FAILED)
        bench_fail(BENCH_EXIT_FAILED, "no memory for the table: %s", strerror(errno));

    struct bench_random random = bench_random_seeded(options->seed, 0);
    while (blocks.bytes < options->total_bytes) {
        size_t bytes = next_bytes(options, &random);
        void *block = malloc(bytes);
        if (!block)
            bench_fail(BENCH_EXIT_FAILED, "malloc(%zu) failed: %s", bytes, strerror(errno));
        memset(block, 0x5a, bytes);
        blocks.table[blocks.count++] = block;
        blocks.bytes += bytes;
        if (options->keep != 0 && blocks.count % options->keep == 0) {
            blocks.kept++;
            blocks.kept_bytes += bytes;
        }
    }
    return blocks;
}

static void release(const struct idle_options *options, struct idle_blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++)
        if (options->keep == 0 || (i + 1) % options->keep != 0)
            free(blocks->table[i]);
    munmap(blocks->table, blocks->room * sizeof *blocks->table);
}

static void report(const struct idle_options *options, const struct which_malloc *which,
                   const struct idle_blocks *blocks, const struct bench_rollup *full,
                   double build_ms, double free_ms) {
    if (options->json) {
        printf("{");
        bench_json_malloc(which);
        printf(", \"blocks\": %zu, \"bytes\": %" PRIu64 ", \"kept\": %" PRIu64
               ", \"kept_bytes\": %" PRIu64 ", \"build_ms\": %.3f, \"free_ms\": %.3f"
               ", \"full_rss_kib\": %" PRIu64 ", \"threads\": %u}\n",
               blocks->count, blocks->bytes, blocks->kept, blocks->kept_bytes, build_ms, free_ms,
               full->rss_kib, options->threads);
        return;
    }
    printf("malloc  %s (%s)\n", which->name, which->path);
    printf("blocks  %zu, %" PRIu64 " bytes, allocated and written in %.0f ms; RSS %" PRIu64
           " KiB\n",
           blocks->count, blocks->bytes, build_ms, full->rss_kib);
    printf("freed   all but %" PRIu64 ", %" PRIu64 " bytes, in %.0f ms; process %d now sleeps\n",
           blocks->kept, blocks->kept_bytes, free_ms, (int)getpid());
}

int main(int argc, char **argv) {
    static char output[BUFSIZ]; // stdio shall not allocate
    setvbuf(stdout, output, _IOFBF, sizeof output);
    struct idle_options options = parse(argc, argv);
    static struct which_malloc which;
    which_malloc_find(&which);
    start_sleepers(options.threads);

    uint64_t start_ns = bench_clock_ns();
    struct idle_blocks blocks = fill(&options);
    double build_ms = (double)(bench_clock_ns() - start_ns) / 1e6;
    struct bench_rollup full;
    int rollup = bench_rollup_open();
    bench_rollup_read(rollup, &full);
    close(rollup);

    start_ns = bench_clock_ns();
    release(&options, &blocks);
    double free_ms = (double)(bench_clock_ns() - start_ns) / 1e6;
    report(&options, &which, &blocks, &full, build_ms, free_ms);
    if (fflush(stdout) != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");

    char ignored[64];
    ssize_t got;
    do
        got = read(STDIN_FILENO, ignored, sizeof ignored);
    while (got > 0 || (got < 0 && errno == EINTR));
    _exit(EXIT_SUCCESS); // the sleepers never end
}
