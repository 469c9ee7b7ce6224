/* The heap's sums, taken at one moment. */
#pragma once

#include <fallow/fallow.h>

/* All domains are locked together, so the law of fallow.h holds exactly. */
void stats_read(struct fallow_stats *out);
