/* The functions that the kernel maps into each process (vdso(7)). Asked for by name here and not through libc, whose
   functions others replace: an interposer's clock may allocate, or not be ready yet. */
#pragma once

/* The function of that name, or NULL: there is none, or no vdso. */
void *os_vdso_find(const char *name);
