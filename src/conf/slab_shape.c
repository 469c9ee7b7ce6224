/* Slab shapes, as a table and as the rule behind it: the fewest granules that hold at least as many
   objects as make a slab worth its descriptor and its slow path, with a tail under an eighth.
   Constant data, no state. */
#include "slab_shape.h"

#include "geometry.h"

/* Objects that a slab must hold at least. Few, where objects are large: a slab is given back only when
   all of them are free. Many, where they are so small that this hardly ever happens anyway, and
   descriptors would add up. */
static unsigned slab_objects_min(size_t object_bytes) {
    if (object_bytes <= 128)
        return (unsigned)(2 * GRANULE_BYTES / object_bytes);
    if (object_bytes <= 1024)
        return 16;
    if (object_bytes <= 4096)
        return 8;
    if (object_bytes <= 8192)
        return 4;
    return object_bytes <= 32768 ? 2 : 1;
}

struct slab_shape slab_shape_of(unsigned class) {
    size_t object_bytes = class_bytes(class);
    size_t granules = 0, capacity, tail;
    do {
        granules++;
        capacity = bytes_of_granules(granules) / object_bytes;
        tail = bytes_of_granules(granules) - capacity * object_bytes;
    } while (capacity < slab_objects_min(object_bytes) || tail * 8 > bytes_of_granules(granules));
    return (struct slab_shape){(uint32_t)object_bytes, (uint16_t)capacity, (uint8_t)granules};
}

/* clang-format off */
const struct slab_shape slab_shapes[CLASS_COUNT] = {
    {16, 2048, 2}, {32, 1024, 2}, {48, 682, 2}, {64, 512, 2},
    {80, 409, 2}, {96, 341, 2}, {112, 292, 2}, {128, 256, 2},
    {144, 113, 1}, {160, 102, 1}, {176, 93, 1}, {192, 85, 1},
    {208, 78, 1}, {224, 73, 1}, {240, 68, 1}, {256, 64, 1},
    {288, 56, 1}, {320, 51, 1}, {352, 46, 1}, {384, 42, 1},
    {416, 39, 1}, {448, 36, 1}, {480, 34, 1}, {512, 32, 1},
    {576, 28, 1}, {640, 25, 1}, {704, 23, 1}, {768, 21, 1},
    {832, 19, 1}, {896, 18, 1}, {960, 17, 1}, {1024, 16, 1},
    {1152, 14, 1}, {1280, 12, 1}, {1408, 11, 1}, {1536, 10, 1},
    {1664, 9, 1}, {1792, 9, 1}, {1920, 8, 1}, {2048, 8, 1},
    {2304, 14, 2}, {2560, 12, 2}, {2816, 11, 2}, {3072, 10, 2},
    {3328, 9, 2}, {3584, 9, 2}, {3840, 8, 2}, {4096, 8, 2},
    {4608, 7, 2}, {5120, 6, 2}, {5632, 8, 3}, {6144, 5, 2},
    {6656, 7, 3}, {7168, 4, 2}, {7680, 4, 2}, {8192, 4, 2},
    {9216, 5, 3}, {10240, 3, 2}, {11264, 4, 3}, {12288, 4, 3},
    {13312, 6, 5}, {14336, 2, 2}, {15360, 2, 2}, {16384, 2, 2},
    {18432, 4, 5}, {20480, 3, 4}, {22528, 2, 3}, {24576, 2, 3},
    {26624, 3, 5}, {28672, 2, 4}, {30720, 2, 4}, {32768, 2, 4},
    {36864, 2, 5}, {40960, 2, 5}, {45056, 1, 3}, {49152, 1, 3},
    {53248, 2, 7}, {57344, 1, 4}, {61440, 1, 4}, {65536, 1, 4},
    {73728, 1, 5}, {81920, 1, 5}, {90112, 1, 6}, {98304, 1, 6},
    {106496, 1, 7}, {114688, 1, 7}, {122880, 1, 8}, {131072, 1, 8},
    {147456, 1, 9}, {163840, 1, 10}, {180224, 1, 11}, {196608, 1, 12},
    {212992, 1, 13}, {229376, 1, 14}, {245760, 1, 15}, {262144, 1, 16},
};
/* clang-format on */
