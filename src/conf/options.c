/* Owns struct options: its defaults, its parser and its listing, all expanded from options.def. Written
   during start-up only, by one thread; afterwards constant, so readers need no lock. A value is stored
   only after it has passed the bounds check, so every field is within its row's range at all times.
   Where the text comes from (the environment) is the api layer's affair. */
#include "options.h"

#include <string.h>

#include "os_assert.h"
#include "os_log.h"
#include "outline.h"

enum option_kind { OPTION_KIND_INT, OPTION_KIND_BOOL, OPTION_KIND_ENUM };

struct option_row {
    const char *name;
    enum option_kind kind;
    size_t offset;
    int64_t min;
    int64_t max;
    const char *const *values; /* of an enum, in the order of its constants; max is the last */
};

#define OPTION_KIND_OF_int  OPTION_KIND_INT
#define OPTION_KIND_OF_bool OPTION_KIND_BOOL

#define OPTION(name, type, default_value, min, max, unit, doc)
#define OPTION_VALUE(constant, text, doc) text,
#define OPTION_ENUM(name, default_value, doc, values) \
    static const char *const option_##name##_values[] = {values};
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
#undef OPTION_VALUE

static const struct option_row option_rows[] = {
#define OPTION(name, type, default_value, min, max, unit, doc) \
    {#name, OPTION_KIND_OF_##type, offsetof(struct options, name), min, max, NULL},
#define OPTION_ENUM(name, default_value, doc, values) \
    {#name,                                           \
     OPTION_KIND_ENUM,                                \
     offsetof(struct options, name),                  \
     0,                                               \
     ARRAY_COUNT(option_##name##_values) - 1,         \
     option_##name##_values},
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
};

#define OPTION(name, type, default_value, min, max, unit, doc) .name = default_value,
#define OPTION_ENUM(name, default_value, doc, values)          .name = default_value,
struct options options = {
#include "options.def"
};

void options_reset(void) {
    options = (struct options){
#include "options.def"
    };
}
#undef OPTION
#undef OPTION_ENUM

/* A piece of the text being parsed. */
struct option_span {
    const char *at;
    size_t len;
};

enum {
    OPTIONS_LINE_BYTES = 256,
    OPTIONS_SHOWN_BYTES = 64,  /* of a name or value in a message */
    OPTIONS_EDITED_BYTES = 32, /* of a name that is compared with the real ones */
};

/* --- messages: one line each, whatever is in the text --- */

static const char *options_source = "FALLOW_CONF"; /* what is being parsed */

static struct fmt options_message_start(char *line) {
    struct fmt f = fmt_start(line, OPTIONS_LINE_BYTES - 1);
    fmt_str(&f, "fallow: ");
    fmt_str(&f, options_source);
    fmt_str(&f, ": ");
    return f;
}

static void options_message_span(struct fmt *f, struct option_span s) {
    for (size_t i = 0; i < min_size(s.len, OPTIONS_SHOWN_BYTES); i++)
        fmt_char(f, s.at[i] >= ' ' && s.at[i] <= '~' ? s.at[i] : '?');
    if (s.len > OPTIONS_SHOWN_BYTES)
        fmt_str(f, "...");
}

static void options_message_end(struct fmt *f, const char *text) {
    fmt_str(f, text);
    f->cap = OPTIONS_LINE_BYTES; /* the byte kept back for the newline */
    fmt_char(f, '\n');
    os_log(f->buf, f->len);
}

/* Single-character insertions, deletions and replacements that lead from a to b. */
static unsigned options_edit_distance(struct option_span a, struct option_span b) {
    unsigned char row[OPTIONS_EDITED_BYTES + 1];
    for (size_t j = 0; j <= b.len; j++)
        row[j] = (unsigned char)j;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned char)i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned replace = diagonal + (a.at[i - 1] != b.at[j - 1]);
            unsigned change = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1U;
            diagonal = row[j];
            row[j] = (unsigned char)(replace < change ? replace : change);
        }
    }
    return row[b.len];
}

static const char *options_nearest(struct option_span name) {
    name.len = min_size(name.len, OPTIONS_EDITED_BYTES);
    const char *best = NULL;
    unsigned best_distance = 0;
    for (size_t i = 0; i < ARRAY_COUNT(option_rows); i++) {
        struct option_span candidate = {option_rows[i].name, strlen(option_rows[i].name)};
        unsigned distance = options_edit_distance(name, candidate);
        if (best == NULL || distance < best_distance) {
            best = option_rows[i].name;
            best_distance = distance;
        }
    }
    return best;
}

static void options_complain_unknown(struct option_span name) {
    char line[OPTIONS_LINE_BYTES];
    struct fmt f = options_message_start(line);
    fmt_str(&f, "no option '");
    options_message_span(&f, name);
    fmt_str(&f, "'; did you mean '");
    fmt_str(&f, options_nearest(name));
    options_message_end(&f, "'?");
}

static void options_complain_form(struct option_span item) {
    char line[OPTIONS_LINE_BYTES];
    struct fmt f = options_message_start(line);
    fmt_char(&f, '\'');
    options_message_span(&f, item);
    options_message_end(&f, "' is not of the form name:value; ignored");
}

static void options_complain_range(const struct option_row *row, struct option_span value) {
    char line[OPTIONS_LINE_BYTES];
    struct fmt f = options_message_start(line);
    fmt_str(&f, row->name);
    fmt_char(&f, ':');
    options_message_span(&f, value);
    fmt_str(&f, " is out of range (");
    fmt_i64(&f, row->min);
    fmt_str(&f, " to ");
    fmt_i64(&f, row->max);
    options_message_end(&f, "); ignored");
}

static void options_complain_value(const struct option_row *row, struct option_span value) {
    char line[OPTIONS_LINE_BYTES];
    struct fmt f = options_message_start(line);
    fmt_str(&f, row->name);
    fmt_char(&f, ':');
    options_message_span(&f, value);
    fmt_str(&f, " is not ");
    switch (row->kind) {
    case OPTION_KIND_INT:
        fmt_str(&f, "a number");
        break;
    case OPTION_KIND_BOOL:
        fmt_str(&f, "true or false");
        break;
    case OPTION_KIND_ENUM:
        fmt_str(&f, "one of ");
        for (int64_t i = 0; i <= row->max; i++) {
            fmt_str(&f, i == 0 ? "" : ", ");
            fmt_str(&f, row->values[i]);
        }
        break;
    }
    options_message_end(&f, "; ignored");
}

/* --- parsing --- */

static bool option_span_is(struct option_span s, const char *text) {
    return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

static const struct option_row *options_find(struct option_span name) {
    for (size_t i = 0; i < ARRAY_COUNT(option_rows); i++) {
        if (option_span_is(name, option_rows[i].name))
            return &option_rows[i];
    }
    return NULL;
}

static bool option_parse_value(const struct option_row *row, struct option_span value,
                               int64_t *out) {
    switch (row->kind) {
    case OPTION_KIND_INT:
        return fmt_parse_i64(value.at, value.len, out);
    case OPTION_KIND_BOOL:
        *out = option_span_is(value, "true");
        return *out != 0 || option_span_is(value, "false");
    case OPTION_KIND_ENUM:
        for (*out = 0; *out <= row->max; ++*out) {
            if (option_span_is(value, row->values[*out]))
                return true;
        }
        return false;
    }
    return false;
}

static void option_store(const struct option_row *row, int64_t value) {
    char *field = (char *)&options + row->offset;
    switch (row->kind) {
    case OPTION_KIND_INT:
        *(int64_t *)(void *)field = value;
        break;
    case OPTION_KIND_BOOL:
        *(bool *)(void *)field = value != 0;
        break;
    case OPTION_KIND_ENUM:
        *(unsigned *)(void *)field = (unsigned)value;
        break;
    }
}

static int64_t option_load(const struct option_row *row) {
    const char *field = (const char *)&options + row->offset;
    switch (row->kind) {
    case OPTION_KIND_INT:
        return *(const int64_t *)(const void *)field;
    case OPTION_KIND_BOOL:
        return *(const bool *)(const void *)field;
    case OPTION_KIND_ENUM:
        return *(const unsigned *)(const void *)field;
    }
    return 0;
}

static bool options_parse_item(struct option_span item) {
    const char *colon = memchr(item.at, ':', item.len);
    if (colon == NULL) {
        options_complain_form(item);
        return false;
    }
    struct option_span name = {item.at, (size_t)(colon - item.at)};
    struct option_span value = {colon + 1, item.len - name.len - 1};
    const struct option_row *row = options_find(name);
    if (row == NULL) {
        options_complain_unknown(name);
        return false;
    }
    int64_t number;
    if (!option_parse_value(row, value, &number)) {
        options_complain_value(row, value);
        return false;
    }
    if (number < row->min || number > row->max) {
        options_complain_range(row, value);
        return false;
    }
    option_store(row, number);
    return true;
}

void options_parse(const char *conf) {
    if (conf == NULL)
        return;
    bool all_good = true;
    while (*conf != '\0') {
        struct option_span item = {conf, strcspn(conf, ",")};
        if (item.len > 0)
            all_good &= options_parse_item(item);
        conf += item.len;
        conf += *conf == ',';
    }
    if (!all_good && options.abort_conf)
        os_abort();
}

void options_parse_from(const char *source, const char *conf) {
    const char *before = options_source;
    options_source = source;
    options_parse(conf);
    options_source = before;
}

void options_print(struct fmt *f) {
    for (size_t i = 0; i < ARRAY_COUNT(option_rows); i++) {
        int64_t value = option_load(&option_rows[i]);
        fmt_str(f, "  ");
        fmt_str(f, option_rows[i].name);
        fmt_char(f, ':');
        switch (option_rows[i].kind) {
        case OPTION_KIND_INT:
            fmt_i64(f, value);
            break;
        case OPTION_KIND_BOOL:
            fmt_str(f, value != 0 ? "true" : "false");
            break;
        case OPTION_KIND_ENUM:
            fmt_str(f, option_rows[i].values[value]);
            break;
        }
        fmt_char(f, '\n');
    }
}

const struct outline_options options_outline = {
    .rows = option_rows,
    .values = &options,
    .count = ARRAY_COUNT(option_rows),
    .bytes = sizeof(struct option_row),
    .name = offsetof(struct option_row, name),
    .kind = offsetof(struct option_row, kind),
    .offset = offsetof(struct option_row, offset),
    .texts = offsetof(struct option_row, values),
    .kind_int = OPTION_KIND_INT,
    .kind_bool = OPTION_KIND_BOOL,
    .kind_enum = OPTION_KIND_ENUM,
};
