/* How many granules a slab of each size class has, and how many objects. */
#pragma once

#include <stdint.h>

#include "classes.h"

struct slab_shape {
    uint32_t object_bytes;
    uint16_t capacity;
    uint8_t granules;
};

/* One row a class, constant. */
extern const struct slab_shape slab_shapes[CLASS_COUNT];

/* The rule that the table follows; it is checked against it by a test. */
struct slab_shape slab_shape_of(unsigned class);

/* Class of every size up to CLASS_TABLE_BYTES by its 16-byte step: entry (size + 15) / 16. */
enum { CLASS_TABLE_BYTES = 1024 };
extern const uint8_t class_table[CLASS_TABLE_BYTES / 16 + 1];
