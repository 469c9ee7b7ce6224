/* An asymmetric barrier: the many pay nothing, the one pays for all. */
#pragma once

#include "compiler.h"

/* When it returns true, every thread of the process has passed a full memory barrier since the call began:
   what the caller wrote before is seen by whatever they read from now on, and what they wrote before the
   barrier is seen by the caller. False where the kernel does not offer it or a sandbox refuses:
   membarrier, 4.14. */
must_check bool os_barrier_all(void);

/* Reads a word of the own process that may not be mapped any more: process_vm_readv, 3.2. */
must_check bool os_barrier_peek(const void *from, void **out);
