/* Why the resident set is as large as it is. */
#pragma once

#include <fallow/fallow.h>
#include <stdint.h>

/* One at a time, under the report's lock. False where the kernel does not say. */
bool why_read(struct fallow_rss_why *out);

/* What the terms of `why` leave of the kernel's figure, either way. */
int64_t why_residual(const struct fallow_rss_why *why);
