/* jemalloc's options by their names: those that have a like here are set, others are named once. */
#pragma once

/* "name:value,name:value", from the place that messages shall name. Before options_parse(), which has the last word.
   NULL changes nothing. */
void options_parse_jemalloc(const char *source, const char *conf);
