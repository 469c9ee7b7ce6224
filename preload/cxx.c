/* All replaceable operators new and delete of C++, by their mangled names (Itanium ABI): 8 forms of
   new, 12 of delete. The library links no C++ run-time library: where new must throw, it calls
   libstdc++'s or libc++'s own functions, which a program that can catch the exception has loaded. */
#include <dlfcn.h>

#include "alloc.h"
#include "os_assert.h"

#define PUBLIC __attribute__((__visibility__("default")))

typedef void (*cxx_new_handler)(void);

/* std::get_new_handler() and std::__throw_bad_alloc() */
extern cxx_new_handler cxx_get_new_handler(void) __asm__("_ZSt15get_new_handlerv")
    __attribute__((__weak__));
extern _Noreturn void cxx_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv")
    __attribute__((__weak__));

/* A nothrow form must return NULL also when the handler throws, which takes a catch. The C++ library's
   own form of the same operator has one, around a call of the throwing form, which is ours. */
typedef void *(*cxx_nothrow_new)(size_t size, const void *tag);
typedef void *(*cxx_nothrow_new_aligned)(size_t size, size_t align, const void *tag);

extern void *cxx_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((__weak__));

static void *cxx_library_form(const char *name) {
    return cxx_dlsym != NULL ? cxx_dlsym(RTLD_NEXT, name) : NULL;
}

/* Memory is out: calls the new handler, as the standard wants it, until it finds some, throws, or is
   none any more. */
static void *cxx_ask_handler(size_t size, size_t align) {
    while (cxx_get_new_handler != NULL) {
        cxx_new_handler handler = cxx_get_new_handler();
        if (handler == NULL)
            break;
        handler();
        void *p = alloc_aligned(align, size);
        if (p != NULL)
            return p;
    }
    return NULL;
}

static noinline_cold void *cxx_new_failed(size_t size, size_t align) {
    void *p = cxx_ask_handler(size, align);
    if (p != NULL)
        return p;
    if (cxx_throw_bad_alloc != NULL)
        cxx_throw_bad_alloc();
    os_panic("operator new: out of memory, and no C++ library to throw", __FILE__, __LINE__);
}

static noinline_cold void *cxx_nothrow_failed(size_t size, const void *tag) {
    if (cxx_get_new_handler == NULL || cxx_get_new_handler() == NULL)
        return NULL;
    cxx_nothrow_new form = (cxx_nothrow_new)cxx_library_form("_ZnwmRKSt9nothrow_t");
    return form != NULL ? form(size, tag) : cxx_ask_handler(size, 1);
}

static noinline_cold void *cxx_nothrow_aligned_failed(size_t size, size_t align, const void *tag) {
    if (cxx_get_new_handler == NULL || cxx_get_new_handler() == NULL)
        return NULL;
    cxx_nothrow_new_aligned form =
        (cxx_nothrow_new_aligned)cxx_library_form("_ZnwmSt11align_val_tRKSt9nothrow_t");
    return form != NULL ? form(size, align, tag) : cxx_ask_handler(size, align);
}

static always_inline void *cxx_new(size_t size) {
    void *p = alloc_malloc(size);
    return likely(p != NULL) ? p : cxx_new_failed(size, 1);
}

static always_inline void *cxx_new_nothrow(size_t size, const void *tag) {
    void *p = alloc_malloc(size);
    return likely(p != NULL) ? p : cxx_nothrow_failed(size, tag);
}

/* `align` is that of a type, so a power of two. */
static void *cxx_new_aligned(size_t size, size_t align) {
    void *p = alloc_aligned(align, size);
    return likely(p != NULL) ? p : cxx_new_failed(size, align);
}

static void *cxx_new_aligned_nothrow(size_t size, size_t align, const void *tag) {
    void *p = alloc_aligned(align, size);
    return likely(p != NULL) ? p : cxx_nothrow_aligned_failed(size, align, tag);
}

/* CXX(name, mangled, parameters): declares the function under its mangled name. */
#define CXX(result, name, mangled, ...)               \
    PUBLIC result name(__VA_ARGS__) __asm__(mangled); \
    result name(__VA_ARGS__)

/* new, new[]: plain, nothrow, aligned, aligned nothrow */
CXX(void *, cxx_nw, "_Znwm", size_t size) {
    return cxx_new(size);
}
CXX(void *, cxx_na, "_Znam", size_t size) {
    return cxx_new(size);
}
CXX(void *, cxx_nw_nothrow, "_ZnwmRKSt9nothrow_t", size_t size, const void *tag) {
    return cxx_new_nothrow(size, tag);
}
CXX(void *, cxx_na_nothrow, "_ZnamRKSt9nothrow_t", size_t size, const void *tag) {
    return cxx_new_nothrow(size, tag);
}
CXX(void *, cxx_nw_align, "_ZnwmSt11align_val_t", size_t size, size_t align) {
    return cxx_new_aligned(size, align);
}
CXX(void *, cxx_na_align, "_ZnamSt11align_val_t", size_t size, size_t align) {
    return cxx_new_aligned(size, align);
}
CXX(void *, cxx_nw_align_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", size_t size, size_t align,
    const void *tag) {
    return cxx_new_aligned_nothrow(size, align, tag);
}
CXX(void *, cxx_na_align_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t", size_t size, size_t align,
    const void *tag) {
    return cxx_new_aligned_nothrow(size, align, tag);
}

/* delete, delete[]: plain, nothrow, sized, aligned, aligned nothrow, sized aligned */
CXX(void, cxx_dl, "_ZdlPv", void *p) {
    alloc_free(p);
}
CXX(void, cxx_da, "_ZdaPv", void *p) {
    alloc_free(p);
}
CXX(void, cxx_dl_nothrow, "_ZdlPvRKSt9nothrow_t", void *p, const void *tag) {
    (void)tag;
    alloc_free(p);
}
CXX(void, cxx_da_nothrow, "_ZdaPvRKSt9nothrow_t", void *p, const void *tag) {
    (void)tag;
    alloc_free(p);
}
CXX(void, cxx_dl_sized, "_ZdlPvm", void *p, size_t size) {
    (void)size;
    alloc_free(p);
}
CXX(void, cxx_da_sized, "_ZdaPvm", void *p, size_t size) {
    (void)size;
    alloc_free(p);
}
CXX(void, cxx_dl_align, "_ZdlPvSt11align_val_t", void *p, size_t align) {
    (void)align;
    alloc_free(p);
}
CXX(void, cxx_da_align, "_ZdaPvSt11align_val_t", void *p, size_t align) {
    (void)align;
    alloc_free(p);
}
CXX(void, cxx_dl_align_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t", void *p, size_t align,
    const void *tag) {
    (void)align, (void)tag;
    alloc_free(p);
}
CXX(void, cxx_da_align_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t", void *p, size_t align,
    const void *tag) {
    (void)align, (void)tag;
    alloc_free(p);
}
CXX(void, cxx_dl_sized_align, "_ZdlPvmSt11align_val_t", void *p, size_t size, size_t align) {
    (void)size, (void)align;
    alloc_free(p);
}
CXX(void, cxx_da_sized_align, "_ZdaPvmSt11align_val_t", void *p, size_t size, size_t align) {
    (void)size, (void)align;
    alloc_free(p);
}
