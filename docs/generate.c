/* Writes the documents whose facts stand in the source as tables (options.def, counters.def,
   lock_ranks.def), or says whether a document still agrees with them.
     docs_generate options|manual|stats|locks FILE             writes FILE
     docs_generate --compare options|manual|stats|locks FILE   fails if FILE differs */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define GENERATED_FROM(file) "<!-- Generated from " file " by the build target docs. -->\n\n"

#define OPTION(name, type, default_value, min, max, unit, doc)
#define OPTION_VALUE(constant, text, doc) [constant] = text,
#define OPTION_ENUM(name, default_value, doc, values) \
    static const char *const name##_texts[] = {values};
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
#undef OPTION_VALUE

static void write_int(FILE *out, long long min, long long max, const char *unit) {
    fprintf(out, "%lld to %lld%s%s.\n", min, max, unit[0] == '\0' ? "" : " ", unit);
}

static void write_bool(FILE *out) {
    fputs("`true` or `false`.\n", out);
}

static void write_options(FILE *out) {
    fputs(GENERATED_FROM("src/conf/options.def"), out);
    fputs(
        "# Options\n\n"
        "`FALLOW_CONF` holds them as `name:value,name:value`. Numbers may end in `K`, `M` or `G`\n"
        "(powers of 1024). A misspelt name, an unknown value or one out of range is named in one\n"
        "line on standard error and ignored; with `abort_conf:true` the process stops instead.\n",
        out);
#define OPTION_WRITE_int(min, max, unit)  write_int(out, min, max, unit)
#define OPTION_WRITE_bool(min, max, unit) write_bool(out)
#define OPTION_VALUE(constant, text, doc) fprintf(out, "- `%s`: %s\n", text, doc);
#define OPTION(name, type, default_value, min, max, unit, doc)                   \
    fprintf(out, "\n## %s\n\n%s\n\nDefault `%s`; ", #name, doc, #default_value); \
    OPTION_WRITE_##type(min, max, unit);
#define OPTION_ENUM(name, default_value, doc, values)                                         \
    fprintf(out, "\n## %s\n\n%s Default `%s`.\n\n", #name, doc, name##_texts[default_value]); \
    values
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
#undef OPTION_VALUE
#undef OPTION_WRITE_int
#undef OPTION_WRITE_bool
}

/* As text for man: what would be taken for a request, an escape or a hyphen stands for itself. */
static void roff_text(FILE *out, const char *text) {
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
    fputc('\n', out);
}

static void roff_value(FILE *out, const char *text, const char *doc) {
    fprintf(out, ".TP\n.B %s\n", text);
    roff_text(out, doc);
}

static void roff_int(FILE *out, long long min, long long max, const char *unit) {
    char range[128];
    snprintf(range, sizeof range, "%lld to %lld%s%s.", min, max, unit[0] == '\0' ? "" : " ", unit);
    roff_text(out, range);
}

static void roff_bool(FILE *out) {
    fputs(".B true\nor\n.BR false .\n", out);
}

static void roff_default(FILE *out, const char *text, const char *end) {
    fprintf(out, ".PP\nDefault\n.BR %s%s %s\n", *text == '-' ? "\\" : "", text, end);
}

/* fallow-options(7) */
static void write_manual(FILE *out) {
    fputs(".\\\" Generated from src/conf/options.def by the build target docs.\n"
          ".TH FALLOW\\-OPTIONS 7 \"\" Fallow\n"
          ".SH NAME\n"
          "fallow\\-options \\- options of the Fallow memory allocator\n"
          ".SH SYNOPSIS\n"
          ".BI FALLOW_CONF= name : value , name : value\n"
          ".IR program \" ...\"\n"
          ".PP\n"
          ".B fallow run\n"
          ".IB name : value\n"
          "\\&...\n"
          ".B \\-\\-\n"
          ".IR program \" ...\"\n"
          ".SH DESCRIPTION\n"
          "The environment variable\n"
          ".B FALLOW_CONF\n"
          "holds options for a program that has Fallow preloaded or linked.\n"
          "Numbers may end in K, M or G (powers of 1024).\n"
          "A misspelt name, an unknown value or one out of range is named in one line on standard\n"
          "error and ignored; with\n"
          ".B abort_conf:true\n"
          "the process stops instead.\n"
          ".SH OPTIONS\n",
          out);
#define OPTION_WRITE_int(min, max, unit)  roff_int(out, min, max, unit)
#define OPTION_WRITE_bool(min, max, unit) roff_bool(out)
#define OPTION_VALUE(constant, text, doc) roff_value(out, text, doc);
#define OPTION(name, type, default_value, min, max, unit, doc) \
    fprintf(out, ".SS %s\n", #name);                           \
    roff_text(out, doc);                                       \
    roff_default(out, #default_value, ";");                    \
    OPTION_WRITE_##type(min, max, unit);
#define OPTION_ENUM(name, default_value, doc, values)    \
    fprintf(out, ".SS %s\n", #name);                     \
    roff_text(out, doc);                                 \
    roff_default(out, name##_texts[default_value], "."); \
    values
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
#undef OPTION_VALUE
    fputs(".SH SEE ALSO\n.BR fallow (1),\n.BR fallow (3)\n", out);
}

static void write_stats(FILE *out) {
    fputs(GENERATED_FROM("src/conf/counters.def"), out);
    fputs("# Counters\n\n"
          "They move by outcomes, on slow paths only, and never go down.\n\n"
          "| counter | unit | counts |\n|---|---|---|\n",
          out);
#define COUNTER(name, unit, doc) fprintf(out, "| `%s` | %s | %s |\n", #name, unit, doc);
#include "counters.def"
#undef COUNTER
}

static void write_locks(FILE *out) {
    fputs(GENERATED_FROM("src/os/lock_ranks.def"), out);
    fputs(
        "# Locks\n\n"
        "In the order of acquisition: a thread that holds one takes only those further down. Of a\n"
        "rank marked \"many\" the fork handler alone holds several, taken by ascending address; of\n"
        "the others a thread holds one at a time. Debug builds check this at every acquisition\n"
        "and stop at the first violation.\n\n"
        "| rank | | protects |\n|---|---|---|\n",
        out);
#define RANK(name, protects)      fprintf(out, "| `%s` | | %s |\n", #name, protects);
#define RANK_MANY(name, protects) fprintf(out, "| `%s` | many | %s |\n", #name, protects);
#include "lock_ranks.def"
#undef RANK
#undef RANK_MANY
}

static const struct {
    const char *name;
    void (*write)(FILE *out);
} documents[] = {
    {"options", write_options},
    {"manual", write_manual},
    {"stats", write_stats},
    {"locks", write_locks},
};

static char *document_text(const char *name) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (out == NULL)
        return NULL;
    bool found = false;
    for (size_t i = 0; i < ARRAY_COUNT(documents); i++) {
        if (strcmp(documents[i].name, name) == 0) {
            documents[i].write(out);
            found = true;
        }
    }
    fclose(out);
    if (!found) {
        free(text);
        return NULL;
    }
    return text;
}

static bool file_holds(const char *path, const char *text) {
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return false;
    bool same = true;
    for (const char *at = text; same; at++) {
        int c = fgetc(in);
        same = c == (*at == '\0' ? EOF : (unsigned char)*at);
        if (*at == '\0')
            break;
    }
    fclose(in);
    return same;
}

static bool file_write(const char *path, const char *text) {
    FILE *out = fopen(path, "we");
    if (out == NULL)
        return false;
    bool written = fputs(text, out) >= 0;
    return fclose(out) == 0 && written;
}

int main(int argc, char **argv) {
    bool compare = argc == 4 && strcmp(argv[1], "--compare") == 0;
    if (!compare && argc != 3) {
        fprintf(stderr, "usage: %s [--compare] options|manual|stats|locks FILE\n", argv[0]);
        return EXIT_FAILURE;
    }
    const char *path = argv[argc - 1];
    char *text = document_text(argv[argc - 2]);
    if (text == NULL) {
        fprintf(stderr, "%s: no such document\n", argv[argc - 2]);
        return EXIT_FAILURE;
    }
    bool ok = compare ? file_holds(path, text) : file_write(path, text);
    if (!ok && compare)
        fprintf(stderr, "%s differs from the source; build the target docs\n", path);
    else if (!ok)
        perror(path);
    free(text);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
