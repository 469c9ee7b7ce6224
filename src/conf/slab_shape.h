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
