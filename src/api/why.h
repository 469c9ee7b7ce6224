/* Why the resident set is as large as it is. */
#pragma once

#include <fallow/fallow.h>
#include <stdint.h>

/* One at a time, under the report's lock. False where the kernel does not say. */
bool why_read(struct fallow_rss_why *out);

/* The sum of its terms, and what they leave of the kernel's figure, either way. */
size_t why_sum(const struct fallow_rss_why *why);
int64_t why_residual(const struct fallow_rss_why *why);
