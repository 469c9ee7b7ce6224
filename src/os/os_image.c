#include "os_image.h"

/* The loader makes addresses of what the image says, but not in the vdso. */
static const void *image_at(uintptr_t shift, uintptr_t address) {
    return (const void *)(address < shift ? shift + address : address);
}

/* How many symbols there are, by the end of the last chain of the hash table. */
static uint32_t image_gnu_count(const uint32_t *table) {
    uint32_t buckets = table[0], first = table[1], filter_words = table[2], last = 0;
    const uint32_t *bucket = table + 4 + (size_t)filter_words * 2;
    const uint32_t *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return first;
    while ((chain[last - first] & 1) == 0)
        last++;
    return last + 1;
}

bool os_image_read(struct os_image *image, uintptr_t shift, const Elf64_Dyn *dynamic) {
    const uint32_t *hash = NULL, *gnu_hash = NULL;
    *image = (struct os_image){.shift = shift};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const void *at = image_at(shift, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_SYMTAB)
            image->symbols = at;
        else if (dynamic->d_tag == DT_STRTAB)
            image->strings = at;
        else if (dynamic->d_tag == DT_HASH)
            hash = at;
        else if (dynamic->d_tag == DT_GNU_HASH)
            gnu_hash = at;
    }
    if (image->symbols == NULL || image->strings == NULL || (hash == NULL && gnu_hash == NULL))
        return false;
    image->count = hash != NULL ? hash[1] : image_gnu_count(gnu_hash);
    return true;
}
