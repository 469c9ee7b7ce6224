/* An intrusive, circular, doubly linked list. The head is a node that belongs to no entry; an empty
   list is a head that points to itself; a removed node points to itself, so that removing it twice
   is harmless. The owner's lock protects all of it. */
#pragma once

#include "compiler.h"

struct list_node {
    struct list_node *prev;
    struct list_node *next;
};

#define LIST_HEAD_INIT(head) \
    { &(head), &(head) }

#define LIST_ENTRY(node, type, member) container_of(node, type, member)

/* The body may remove the node it is looking at. */
#define LIST_FOR_EACH(node, head)                                                          \
    for (struct list_node *node = (head)->next, *node##_next = node->next; node != (head); \
         node = node##_next, node##_next = node->next)

static inline void list_init(struct list_node *head) {
    head->prev = head;
    head->next = head;
}

static inline bool list_is_empty(const struct list_node *head) {
    return head->next == head;
}

static inline void list_insert_between(struct list_node *node, struct list_node *before,
                                       struct list_node *after) {
    node->prev = before;
    node->next = after;
    before->next = node;
    after->prev = node;
}

static inline void list_push_front(struct list_node *head, struct list_node *node) {
    list_insert_between(node, head, head->next);
}

static inline void list_push_back(struct list_node *head, struct list_node *node) {
    list_insert_between(node, head->prev, head);
}

static inline void list_remove(struct list_node *node) {
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* NULL when the list is empty. */
static inline struct list_node *list_first(const struct list_node *head) {
    return list_is_empty(head) ? NULL : head->next;
}

static inline struct list_node *list_last(const struct list_node *head) {
    return list_is_empty(head) ? NULL : head->prev;
}
