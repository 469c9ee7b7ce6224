// tree: a binary search tree of random keys, unbalanced. A round walks it several times, in order,
// deletes half of its nodes at random and inserts as many. Where the nodes lie decides what a walk
// costs. Some nodes have a payload in another block.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

enum { PAYLOAD_ONE_IN = 4, PAYLOAD_LEAST = 16, PAYLOAD_OCTAVES = 4 };

static uint64_t node_count = 100000;
static uint64_t walks = 4;

struct node {
    struct node *left, *right;
    uint64_t key;
    struct suite_block payload;
};

struct tree {
    struct node *root;
    struct bench_random random;
    uint64_t *keys; // of all nodes, in no order
};

static void insert(struct tree *tree, uint64_t key) {
    struct node **link = &tree->root;
    while (*link)
        link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    struct node *node = suite_block_alloc(sizeof *node);
    *node = (struct node){.key = key};
    if (bench_random_below(&tree->random, PAYLOAD_ONE_IN) == 0)
        node->payload =
            suite_block_make(suite_size_octaves(&tree->random, PAYLOAD_LEAST, PAYLOAD_OCTAVES));
    *link = node;
}

// Takes a node out of its link. With two children, the next larger node takes its place.
static void unlink_node(struct node **link) {
    struct node *node = *link;
    if (!node->left || !node->right) {
        *link = node->left ? node->left : node->right;
        return;
    }
    struct node **lowest = &node->right;
    while ((*lowest)->left)
        lowest = &(*lowest)->left;
    struct node *heir = *lowest;
    *lowest = heir->right;
    heir->left = node->left;
    heir->right = node->right;
    *link = heir;
}

static void delete (struct tree *tree, uint64_t key) {
    struct node **link = &tree->root;
    while (*link && (*link)->key != key)
        link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    struct node *node = *link;
    if (!node)
        suite_block_fail_changed(tree, sizeof *tree);
    unlink_node(link);
    suite_block_drop(&node->payload);
    free(node);
}

// Visits the nodes in the order of their keys. Returns how many there are.
static uint64_t walk(const struct node *node, uint64_t *last_key) {
    uint64_t count = 0;
    for (; node; node = node->right) {
        count += 1 + walk(node->left, last_key);
        if (node->key < *last_key)
            suite_block_fail_changed(node, sizeof *node);
        *last_key = node->key;
    }
    return count;
}

static void work_round(struct tree *tree, size_t count) {
    for (uint64_t i = 0; i < walks; i++) {
        uint64_t last_key = 0;
        if (walk(tree->root, &last_key) != count)
            suite_block_fail_changed(tree, sizeof *tree);
    }
    for (size_t i = 0; i < count / 2; i++) { // the first half, shuffled from all
        size_t other = i + (size_t)bench_random_below(&tree->random, count - i);
        uint64_t key = tree->keys[other];
        tree->keys[other] = tree->keys[i];
        tree->keys[i] = key;
        delete (tree, key);
    }
    for (size_t i = 0; i < count / 2; i++)
        insert(tree, tree->keys[i] = bench_random_next(&tree->random));
}

static void body(const struct suite_options *options, unsigned index) {
    size_t count = suite_share(node_count, options->threads, index);
    struct tree tree = {.random = bench_random_seeded(options->seed, index)};
    tree.keys = suite_block_zalloc(count, sizeof tree.keys[0]);
    for (size_t i = 0; i < count; i++)
        insert(&tree, tree.keys[i] = bench_random_next(&tree.random));
    for (uint64_t i = 0; i < options->work; i++)
        work_round(&tree, count);
    for (size_t i = 0; i < count; i++)
        delete (&tree, tree.keys[i]);
    free(tree.keys);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {
    {"nodes", SUITE_WHOLE, &node_count, SUITE_THREADS_MAX, 1 << 28, "nodes, all threads together"},
    {"walks", SUITE_WHOLE, &walks, 0, UINT64_MAX, "walks in a round"},
    {0}};

const struct suite_shape suite_tree = {
    .name = "tree",
    .summary = "A search tree that is walked, half deleted and filled again",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each with a tree",
    .work = 6,
    .work_help = "rounds",
    .extras = extras,
    .run = run,
};
