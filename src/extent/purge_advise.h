/* The system calls of a purge. */
#pragma once

#include "purge_batch.h"

/* Advises what was taken of every item, and notes in it what became lazy and what clean. No lock is
   held. Counters move by what the kernel answered. */
void purge_advise(struct purge_batch *batch, enum purge_stage stage);
