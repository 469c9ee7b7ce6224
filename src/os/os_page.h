/* The kernel's page size. */
#pragma once

#include "compiler.h"

/* A power of two, at least 4096; read once from the auxiliary vector, so no system call. */
size_t os_page_size(void);

/* What /proc counts in; the same but in tests, which may take larger pages for the kernel's. */
size_t os_page_kernel_size(void);

/* For tests: what os_page_size() says from now on; 0 goes back to the kernel's. */
void os_page_size_set(size_t bytes);
