/* Lines on standard error. */
#pragma once

#include "compiler.h"

/* Writes all of it to descriptor 2; gives up in silence if that fails. One call is one write where
   the kernel takes it whole, so that lines of several threads do not mix. */
void os_log(const char *text, size_t len);
void os_log_str(const char *text);
