/* The C library's own statistics interface, answered for this heap: mallinfo(3), mallopt(3), malloc_info(3). The
   names are in preload/glibc.c; what each figure is here, docs/compatibility.md. */
#pragma once

#include <malloc.h>
#include <stdio.h>

struct mallinfo2 mallinfo_read(void);

/* The same in int: what does not fit is INT_MAX. */
struct mallinfo mallinfo_read_int(void);

/* 1: accepted; 0: not known here, or not offered. */
int mallinfo_set_option(int parameter, int value);

/* XML with the elements that the C library's has. `flags` must be 0: else EINVAL. -1, with errno, when the stream
   fails. */
int mallinfo_write(int flags, FILE *stream);
