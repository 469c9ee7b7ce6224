/* Pictures of a chunk, one character a granule:
       a  in use      d  dirty      ~  lazy      b  busy      .  clean
   In a picture that a test writes down, the last character goes on to the end of the chunk. */
#pragma once

#include <criterion/criterion.h>
#include <string.h>

#include "chunk.h"

struct picture {
    char text[CHUNK_GRANULES + 1];
};

static inline char picture_granule(const struct chunk *chunk, unsigned i) {
    bits_t bit = (bits_t)1 << i;
    char state = '.';
    unsigned sets = 0;
    sets += (chunk->used & bit) != 0 ? (state = 'a', 1) : 0;
    sets += (chunk->dirty & bit) != 0 ? (state = 'd', 1) : 0;
    sets += (chunk->lazy & bit) != 0 ? (state = '~', 1) : 0;
    sets += (chunk->busy & bit) != 0 ? (state = 'b', 1) : 0;
    return sets > 1 ? '!' : state;
}

static inline struct picture picture_of(const struct chunk *chunk) {
    struct picture picture;
    for (unsigned i = 0; i < CHUNK_GRANULES; i++)
        picture.text[i] = picture_granule(chunk, i);
    picture.text[CHUNK_GRANULES] = '\0';
    return picture;
}

/* What is written down, in full length. */
static inline struct picture picture_whole(const char *written) {
    struct picture picture;
    for (unsigned i = 0; i < CHUNK_GRANULES; i++) {
        picture.text[i] = *written;
        written += written[1] != '\0';
    }
    picture.text[CHUNK_GRANULES] = '\0';
    return picture;
}

#define expect_picture(chunk, written)                                                     \
    do {                                                                                   \
        struct picture is_ = picture_of(chunk), wanted_ = picture_whole(written);          \
        cr_assert_str_eq(is_.text, wanted_.text, "is %s, not %s", is_.text, wanted_.text); \
    } while (0)

/* The members of the set in state `state`. */
static inline bits_t picture_set(const struct picture *picture, char state) {
    bits_t set = 0;
    for (unsigned i = 0; i < CHUNK_GRANULES; i++)
        set |= picture->text[i] == state ? (bits_t)1 << i : 0;
    return set;
}

/* A chunk that stands for no memory, in the state written down. */
static inline void picture_draw(struct chunk *chunk, const char *written) {
    struct picture picture = picture_whole(written);
    memset(chunk, 0, sizeof *chunk);
    list_init(&chunk->fit_node);
    list_init(&chunk->dirty_node);
    list_init(&chunk->lazy_node);
    list_init(&chunk->once_node);
    chunk->used = picture_set(&picture, 'a');
    chunk->dirty = picture_set(&picture, 'd');
    chunk->lazy = picture_set(&picture, '~');
    chunk->busy = picture_set(&picture, 'b');
    chunk->in_use = (uint8_t)bits_count(chunk->used);
}
