/* malloc_stats_print: the report, or with 'J' among the options a JSON object, to a function of the caller's. */
#pragma once

void stats_print(void (*write)(void *opaque, const char *text), void *opaque, const char *opts);
