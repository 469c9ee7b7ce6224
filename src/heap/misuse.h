/* What a program did wrong with a pointer: counted, said in one line, otherwise ignored. */
#pragma once

#include "compiler.h"

/* A pointer that is not the start of a live block of Fallow's: a second free of a large block if it
   points into Fallow's memory, else foreign, which ends the process under abort_on_foreign. */
noinline_cold void misuse_unknown(const void *p);

/* A block that is free already. */
noinline_cold void misuse_double_free(const void *p);
