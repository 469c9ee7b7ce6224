#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "which_malloc.h"

// Members of a JSON object, printed on stdout without a comma.
void bench_json_string(const char *name, const char *value); // escaped
void bench_json_malloc(const struct which_malloc *which);    // "malloc": {name, path}

#endif
