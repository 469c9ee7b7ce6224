/* fallow doctor: interfaces that are tried, each in a child of its own, since a sandbox may kill for one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum doctor_state {
    DOCTOR_YES,  /* as Fallow can use it best */
    DOCTOR_LESS, /* there, and not at its best */
    DOCTOR_NO,
    DOCTOR_KILLS, /* the process that tried it was killed */
};

enum { DOCTOR_FOUND_BYTES = 192 };

/* What a trial found out; in memory that the child shares. */
struct doctor_result {
    enum doctor_state state;
    char found[DOCTOR_FOUND_BYTES];
};

struct doctor_trial {
    const char *key;
    const char *name;
    void (*run)(struct doctor_result *out);
    const char *fallow; /* what Fallow does with it, and without it */
    const char *change; /* for more, where the state is not DOCTOR_YES */
};

/* Sets both; returns whether `state` is DOCTOR_YES. */
bool doctor_found(struct doctor_result *out, enum doctor_state state, const char *format, ...)
    __attribute__((__format__(printf, 3, 4)));
/* DOCTOR_NO with errno, for the call `what`. */
void doctor_refused(struct doctor_result *out, const char *what);

/* Ended by one without a key. */
extern const struct doctor_trial doctor_memory_trials[], doctor_system_trials[];
