#ifndef EBIZZY_REPORT_H
#define EBIZZY_REPORT_H

#include "ebizzy_load.h"
#include "ebizzy_options.h"
#include "which_malloc.h"

// Both print on stdout and read the sampler.
void ebizzy_report_text(const struct ebizzy_options *options, const struct which_malloc *which,
                        const struct ebizzy_result *result);
void ebizzy_report_json(const struct ebizzy_options *options, const struct which_malloc *which,
                        const struct ebizzy_result *result);

#endif
