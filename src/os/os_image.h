/* A loaded ELF image and its dynamic symbols, looked at one by one. System V ABI, and the GNU hash table's layout. */
#pragma once

#include <elf.h>
#include <stdint.h>

#include "compiler.h"

struct os_image {
    uintptr_t shift; /* of addresses in memory over those in the image */
    const Elf64_Sym *symbols;
    const char *strings;
    uint32_t count; /* of symbols */
};

/* False if it has no symbols, or one cannot tell how many. */
bool os_image_read(struct os_image *image, uintptr_t shift, const Elf64_Dyn *dynamic);

/* The name of symbol `i` if it is a function that the image has, else NULL. */
static inline const char *os_image_function(const struct os_image *image, uint32_t i) {
    const Elf64_Sym *symbol = &image->symbols[i];
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC
               ? image->strings + symbol->st_name
               : NULL;
}
