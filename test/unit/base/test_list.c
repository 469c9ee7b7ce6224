/* The intrusive list: order, removal, and removal during a walk. */
#include <criterion/criterion.h>

#include "list.h"

struct item {
    int number;
    struct list_node node;
};

static int number_of(struct list_node *node) {
    return LIST_ENTRY(node, struct item, node)->number;
}

Test(list, empty_has_no_first_and_no_last) {
    struct list_node head = LIST_HEAD_INIT(head);
    cr_assert(list_is_empty(&head));
    cr_assert_null(list_first(&head));
    cr_assert_null(list_last(&head));
}

Test(list, pushes_at_both_ends) {
    struct list_node head;
    list_init(&head);
    struct item items[] = {{.number = 1}, {.number = 2}, {.number = 3}};
    list_push_back(&head, &items[1].node);
    list_push_back(&head, &items[2].node);
    list_push_front(&head, &items[0].node);
    cr_assert_eq(number_of(list_first(&head)), 1);
    cr_assert_eq(number_of(list_last(&head)), 3);
    int expected = 1;
    LIST_FOR_EACH (node, &head)
        cr_assert_eq(number_of(node), expected++);
    cr_assert_eq(expected, 4);
}

Test(list, removing_twice_is_harmless) {
    struct list_node head;
    list_init(&head);
    struct item items[] = {{.number = 1}, {.number = 2}};
    list_push_back(&head, &items[0].node);
    list_push_back(&head, &items[1].node);
    list_remove(&items[0].node);
    list_remove(&items[0].node);
    cr_assert(list_is_empty(&items[0].node));
    cr_assert_eq(list_first(&head), &items[1].node);
    cr_assert_eq(list_last(&head), &items[1].node);
    list_remove(&items[1].node);
    cr_assert(list_is_empty(&head));
}

Test(list, the_walk_survives_removal_of_the_current_node) {
    struct list_node head;
    list_init(&head);
    struct item items[10];
    for (int i = 0; i < 10; i++) {
        items[i].number = i;
        list_push_back(&head, &items[i].node);
    }
    LIST_FOR_EACH (node, &head) {
        if (number_of(node) % 2 == 0)
            list_remove(node);
    }
    int expected = 1;
    LIST_FOR_EACH (node, &head) {
        cr_assert_eq(number_of(node), expected);
        expected += 2;
    }
    cr_assert_eq(expected, 11);
}
