#ifndef SUITE_OPTIONS_H
#define SUITE_OPTIONS_H

#include "suite.h"

// Reads what follows the shape on the command line; arguments[0] is the shape itself. Ends the
// program after --help, and with BENCH_EXIT_USAGE where the options are wrong.
struct suite_options suite_options_parse(const struct suite_shape *shape, int count,
                                         char **arguments);

#endif
