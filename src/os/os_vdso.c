/* The vdso is an ELF image that is loaded already; its dynamic section is found by its program headers. */
#include "os_vdso.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "os_image.h"

static bool vdso_read(struct os_image *image) {
    int saved = errno; /* which getauxval sets where there is none: under valgrind, for one */
    const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
    errno = saved;
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
    uintptr_t shift = (uintptr_t)header + load->p_offset - load->p_vaddr;
    return os_image_read(image, shift, (const void *)(shift + dynamic->p_vaddr));
}

void *os_vdso_find(const char *name) {
    struct os_image vdso;
    if (!vdso_read(&vdso))
        return NULL;
    for (uint32_t i = 0; i < vdso.count; i++) {
        const char *has = os_image_function(&vdso, i);
        if (has != NULL && strcmp(has, name) == 0)
            return (void *)(vdso.shift + vdso.symbols[i].st_value);
    }
    return NULL;
}
