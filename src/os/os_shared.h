/* Whether memory is shared with another process since a fork: /proc/self/pagemap. */
#pragma once

#include "compiler.h"

/* A descriptor for os_shared_is(), to be closed with os_file_close(), or a negated errno. */
int os_shared_open(void);

/* Whether some page of the range may be mapped by another process too, which is so after a fork until
   one of them has written it or gone (bit 56, exclusively mapped: 4.2). Pages that are not resident are
   not. True where it cannot be read. */
bool os_shared_is(int fd, const void *addr, size_t bytes);
