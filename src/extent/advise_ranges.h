/* Many ranges advised, of which none needs an account of its own. */
#pragma once

#include "os_advise.h"

/* With few system calls where the process may make the one for many ranges. Returns how many bytes the
   kernel agreed to. The ranges are the callee's to cut. No lock is held. */
size_t advise_ranges(struct os_range *ranges, size_t count, enum os_advice advice);
