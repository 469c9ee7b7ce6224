#include "options_jemalloc.h"

#include <string.h>

#include "options.h"
#include "os_log.h"

enum { LIKE_BYTES = 128, LINE_BYTES = 256 };

/* Their name and value, ours; no value: it stays as it is. */
static const struct option_like {
    const char *name, *value, *our_name, *our_value;
} option_likes[] = {
    {"dirty_decay_ms", NULL, "dirty_decay_ms", NULL},
    {"muzzy_decay_ms", NULL, "lazy_decay_ms", NULL},
    {"narenas", NULL, "narenas", NULL},
    {"background_thread", "true", "purge_thread", "always"},
    {"background_thread", "false", "purge_thread", "never"},
    {"thp", "default", "thp", "auto"},
    {"thp", NULL, "thp", NULL},
    {"stats_print", NULL, "stats_at_exit", NULL},
    {"abort_conf", NULL, "abort_conf", NULL},
};

static bool option_text_is(const char *text, size_t length, const char *other) {
    return strlen(other) == length && memcmp(text, other, length) == 0;
}

/* One item of theirs; false if there is nothing like it here. */
static bool options_take_like(const char *source, const char *item, size_t length) {
    size_t name_length = strcspn(item, ":");
    if (name_length >= length)
        return false;
    const char *value = item + name_length + 1;
    size_t value_length = length - name_length - 1;
    for (size_t i = 0; i < ARRAY_COUNT(option_likes); i++) {
        const struct option_like *like = &option_likes[i];
        if (!option_text_is(item, name_length, like->name) ||
            (like->value != NULL && !option_text_is(value, value_length, like->value)))
            continue;
        char text[LIKE_BYTES];
        struct fmt f = fmt_start(text, sizeof text);
        fmt_str(&f, like->our_name);
        fmt_char(&f, ':');
        if (like->our_value != NULL)
            fmt_str(&f, like->our_value);
        else
            fmt_mem(&f, value, value_length);
        if (fmt_is_full(&f))
            return false;
        options_parse_from(source, text);
        return true;
    }
    return false;
}

void options_parse_jemalloc(const char *source, const char *conf) {
    char line[LINE_BYTES];
    struct fmt f = fmt_start(line, sizeof line - 1);
    bool any = false;
    if (conf == NULL)
        return;
    while (*conf != '\0') {
        size_t length = strcspn(conf, ",");
        if (length > 0 && !options_take_like(source, conf, length)) {
            if (!any) {
                fmt_str(&f, "fallow: ");
                fmt_str(&f, source);
                fmt_str(&f, ": nothing like it here, ignored: ");
            }
            fmt_str(&f, any ? "," : "");
            for (size_t i = 0; i < length; i++)
                fmt_char(&f, conf[i] >= ' ' && conf[i] <= '~' ? conf[i] : '?');
            any = true;
        }
        conf += length;
        conf += *conf == ',';
    }
    if (!any)
        return;
    f.cap = sizeof line; /* the byte kept back for the newline */
    fmt_char(&f, '\n');
    os_log(line, f.len);
}
