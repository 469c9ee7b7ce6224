/* The vdso is an ELF image that is loaded already: its dynamic section is found by its program headers, and a symbol
   by looking at all there are. System V ABI, and the GNU hash table's layout. */
#include "os_vdso.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "compiler.h"

struct vdso {
    uintptr_t shift; /* of addresses in memory over those in the image */
    const Elf64_Sym *symbols;
    const char *strings;
    const uint32_t *hash; /* one of the two may be NULL */
    const uint32_t *gnu_hash;
};

static const void *vdso_at(const struct vdso *vdso, uintptr_t address) {
    return (const void *)(vdso->shift + address);
}

static void vdso_read_dynamic(struct vdso *vdso, const Elf64_Dyn *entry) {
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *at = vdso_at(vdso, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            vdso->symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            vdso->strings = at;
        else if (entry->d_tag == DT_HASH)
            vdso->hash = at;
        else if (entry->d_tag == DT_GNU_HASH)
            vdso->gnu_hash = at;
    }
}

static bool vdso_read(struct vdso *vdso) {
    const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
    *vdso = (struct vdso){0};
    if (header == NULL)
        return false;
    const Elf64_Phdr *part = (const void *)((const char *)header + header->e_phoff);
    const Elf64_Phdr *dynamic = NULL, *load = NULL;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (part[i].p_type == PT_DYNAMIC)
            dynamic = &part[i];
        else if (part[i].p_type == PT_LOAD && load == NULL)
            load = &part[i];
    }
    if (dynamic == NULL || load == NULL)
        return false;
    vdso->shift = (uintptr_t)header + load->p_offset - load->p_vaddr;
    vdso_read_dynamic(vdso, vdso_at(vdso, dynamic->p_vaddr));
    return vdso->symbols != NULL && vdso->strings != NULL &&
           (vdso->hash != NULL || vdso->gnu_hash != NULL);
}

/* How many symbols there are, by the end of the last chain of the hash table. */
static uint32_t vdso_gnu_count(const uint32_t *table) {
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

void *os_vdso_find(const char *name) {
    struct vdso vdso;
    if (!vdso_read(&vdso))
        return NULL;
    uint32_t count = vdso.hash != NULL ? vdso.hash[1] : vdso_gnu_count(vdso.gnu_hash);
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Sym *symbol = &vdso.symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            strcmp(vdso.strings + symbol->st_name, name) == 0)
            return (void *)(vdso.shift + symbol->st_value);
    }
    return NULL;
}
