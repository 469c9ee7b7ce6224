/* The options of the process, one field for each row of options.def. Readable at any time: fields have
   their defaults before anything runs. Written by options_parse alone, before there are threads. */
#pragma once

#include "fmt.h"

#define OPTION(name, type, default_value, min, max, unit, doc)
#define OPTION_VALUE(constant, text, doc)             constant,
#define OPTION_ENUM(name, default_value, doc, values) enum option_##name{values};
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
#undef OPTION_VALUE

#define OPTION_TYPE_int  int64_t
#define OPTION_TYPE_bool bool

struct options {
#define OPTION(name, type, default_value, min, max, unit, doc) OPTION_TYPE_##type name;
#define OPTION_ENUM(name, default_value, doc, values)          enum option_##name name;
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
};

extern struct options options;

/* "name:value,name:value". Whatever is wrong is named in one line on standard error and ignored; with
   abort_conf:true anywhere in conf, the process then stops. NULL and "" change nothing. */
void options_parse(const char *conf);
/* The same, from a place that messages name instead of FALLOW_CONF. */
void options_parse_from(const char *source, const char *conf);

/* Back to the defaults. For tests. */
void options_reset(void);

/* One line "  name:value" for each option, as FALLOW_CONF takes them. */
void options_print(struct fmt *f);
