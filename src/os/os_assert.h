/* Assertions. A failed one prints "fallow: file:line: condition" and ends the process by SIGABRT,
   without malloc or stdio, since both may be what is broken.
     fallow_check(condition)   always evaluated
     fallow_assert(condition)  evaluated in debug builds only (FALLOW_DEBUG) */
#pragma once

#include "compiler.h"

#ifndef FALLOW_DEBUG
#define FALLOW_DEBUG 0
#endif

_Noreturn noinline_cold void os_panic(const char *message, const char *file, unsigned line);
_Noreturn noinline_cold void os_abort(void);
/* The process ends with that status, and nothing of its own runs any more. */
_Noreturn noinline_cold void os_exit(int status);

#define fallow_check(condition) \
    (likely(condition) ? (void)0 : os_panic(#condition, __FILE__, __LINE__))

#if FALLOW_DEBUG
#define fallow_assert(condition) fallow_check(condition)
#else
#define fallow_assert(condition) ((void)(0 && (condition)))
#endif
