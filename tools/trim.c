/* fallow trim: has the kernel take the lazy memory of a process now. process_madvise (5.10) with MADV_PAGEOUT reclaims
   pages at once: lazily freed ones are dropped, and without swap no other anonymous page can be. With swap those
   would be written out; then only what Fallow has as lazy is named, and only on demand. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "heap_walk.h"
#include "tool.h"
#include "tool_cgroup.h"
#include "tool_json.h"
#include "tool_print.h"
#include "tool_process.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

enum { TRIM_RANGES = 512 }; /* of a call, */
static const uint64_t trim_call_bytes =
    1 << 30; /* and so much at most: the kernel's bound is 2 GiB */

static const char trim_help[] =
    "Usage: fallow trim [--swap] [--json] PID...\n"
    "\n"
    "Has the kernel take the lazily freed memory of a process that has Fallow, now instead of when it is short:\n"
    "MADV_PAGEOUT over its chunks. Live memory stays where it is, as long as there is no swap. Needs\n"
    "CAP_SYS_NICE and the right to look at the process.\n"
    "\n"
    "  -s, --swap   also where there is swap: only over what is lazy; what is used again meanwhile may be\n"
    "               written to swap\n"
    "  -j, --json   JSON\n";

struct trim {
    int pidfd;
    bool lazy_only;
    int error;        /* of the first range that was refused */
    uint64_t advised; /* bytes for which the kernel agreed */
    unsigned granule_shift, granules;
    uint64_t chunk_bytes;
    size_t count;
    uint64_t bytes;
    struct iovec ranges[TRIM_RANGES];
};

/* Drops `done` bytes from the front of the ranges from the i-th on; returns where that leads. */
static size_t trim_advance(struct trim *trim, size_t i, size_t done) {
    while (i < trim->count && done >= trim->ranges[i].iov_len)
        done -= trim->ranges[i++].iov_len;
    if (done > 0 && i < trim->count) {
        trim->ranges[i].iov_base = (char *)trim->ranges[i].iov_base + done;
        trim->ranges[i].iov_len -= done;
    }
    return i;
}

/* Advises what has been collected. A range that is refused, unmapped meanwhile perhaps, is passed over. */
static void trim_flush(struct trim *trim) {
    for (size_t i = 0; i < trim->count;) {
        long done = syscall(SYS_process_madvise, trim->pidfd, &trim->ranges[i], trim->count - i,
                            MADV_PAGEOUT, 0);
        if (done <= 0) {
            trim->error = trim->error != 0 ? trim->error : errno;
            i++;
            continue;
        }
        trim->advised += (uint64_t)done;
        i = trim_advance(trim, i, (size_t)done);
    }
    trim->count = 0;
    trim->bytes = 0;
}

static void trim_add(struct trim *trim, uint64_t base, uint64_t bytes) {
    struct iovec *last = trim->count > 0 ? &trim->ranges[trim->count - 1] : NULL;
    if (trim->count == TRIM_RANGES || trim->bytes + bytes > trim_call_bytes) {
        trim_flush(trim);
        last = NULL;
    }
    trim->bytes += bytes;
    if (last != NULL && (uint64_t)(uintptr_t)last->iov_base + last->iov_len == base) {
        last->iov_len += bytes;
        return;
    }
    trim->ranges[trim->count++] = (struct iovec){(void *)(uintptr_t)base, bytes};
}

static bool trim_chunk(const struct heap_chunk *chunk, void *context) {
    struct trim *trim = context;
    if (!trim->lazy_only) {
        trim_add(trim, chunk->base, trim->chunk_bytes);
        return true;
    }
    for (unsigned i = 0; i < trim->granules; i++)
        if ((chunk->lazy >> i & 1) != 0)
            trim_add(trim, chunk->base + ((uint64_t)i << trim->granule_shift),
                     (uint64_t)1 << trim->granule_shift);
    return true;
}

/* --- the result --- */

struct trim_moment {
    struct process_memory memory;
    struct cgroup_memory cgroup;
};

static int trim_look(pid_t pid, struct trim_moment *out) {
    (void)cgroup_read(pid, false, &out->cgroup);
    return process_sum(pid, &out->memory);
}

static void trim_print_json(pid_t pid, const struct trim *trim, const struct trim_moment *before,
                            const struct trim_moment *after) {
    json_object(NULL);
    json_u64("pid", (uint64_t)pid);
    json_u64("advised_bytes", trim->advised);
    json_u64("rss_before_bytes", before->memory.rss);
    json_u64("rss_after_bytes", after->memory.rss);
    json_u64("lazyfree_before_bytes", before->memory.lazy);
    json_u64("lazyfree_after_bytes", after->memory.lazy);
    if (before->cgroup.usage != 0) {
        json_u64("cgroup_before_bytes", before->cgroup.usage);
        json_u64("cgroup_after_bytes", after->cgroup.usage);
    }
    json_end();
}

static void trim_print_row(const char *name, uint64_t before, uint64_t after) {
    printf("  %-18s%12s -> %12s  %c%s\n", name, print_bytes(before), print_bytes(after),
           after > before ? '+' : '-',
           print_bytes(after > before ? after - before : before - after));
}

static void trim_print(pid_t pid, const struct trim *trim, const struct trim_moment *before,
                       const struct trim_moment *after) {
    char name[PROCESS_NAME_BYTES];
    process_name(pid, name);
    fputs(print_on(PRINT_BOLD), stdout);
    print_clean(name);
    printf("%s (%d), %s of its heap looked at\n", print_off(), (int)pid,
           print_bytes(trim->advised));
    trim_print_row("LazyFree", before->memory.lazy, after->memory.lazy);
    trim_print_row("kernel RSS", before->memory.rss, after->memory.rss);
    if (before->cgroup.usage != 0)
        trim_print_row("its cgroup", before->cgroup.usage, after->cgroup.usage);
    if (before->memory.lazy == 0)
        puts("  There was nothing lazy to take.");
    else if (after->memory.lazy > before->memory.lazy / 2)
        puts(
            "  Most of it is there still: shared with a child since a fork, not Fallow's, or made lazy meanwhile.");
}

/* --- one process --- */

static int trim_advise(const struct heap_view *view, struct trim *trim) {
    struct heap_visitor visitor = {.chunk = trim_chunk, .context = trim};
    trim->pidfd = (int)syscall(SYS_pidfd_open, view->pid, 0);
    if (trim->pidfd < 0)
        return errno == ENOSYS ? tool_error(TOOL_UNAVAILABLE, "this kernel has no pidfd_open (5.3)")
                               : process_error(view->pid, errno, "pidfd_open");
    errno = 0;
    bool walked = heap_walk(view, &visitor);
    int error = errno;
    trim_flush(trim);
    close(trim->pidfd);
    errno = error;
    if (!walked)
        return heap_view_error(view);
    if (trim->advised > 0 || trim->error == 0)
        return TOOL_OK;
    if (trim->error == EPERM)
        return tool_error(TOOL_NOT_PERMITTED,
                          "process %d: process_madvise: not permitted; try as root (CAP_SYS_NICE)",
                          (int)view->pid);
    if (trim->error == ENOSYS || trim->error == EINVAL)
        return tool_error(TOOL_UNAVAILABLE,
                          "this kernel has no process_madvise with MADV_PAGEOUT (5.10)");
    return process_error(view->pid, trim->error, "process_madvise");
}

static int trim_process(pid_t pid, bool lazy_only, bool json) {
    struct heap_view *view = malloc(sizeof *view);
    struct trim *trim = calloc(1, sizeof *trim);
    struct trim_moment before, after;
    if (view == NULL || trim == NULL) {
        free(view);
        free(trim);
        return tool_error(TOOL_FAILED, "%s", strerror(errno));
    }
    int status = heap_view_open(pid, view);
    if (status == TOOL_OK)
        status = trim_look(pid, &before);
    if (status == TOOL_OK) {
        trim->lazy_only = lazy_only;
        trim->granule_shift = view->outline.granule_shift;
        trim->granules = 1U << (view->outline.chunk_shift - view->outline.granule_shift);
        trim->chunk_bytes = (uint64_t)1 << view->outline.chunk_shift;
        status = trim_advise(view, trim);
    }
    if (status == TOOL_OK)
        status = trim_look(pid, &after);
    if (status == TOOL_OK && json)
        trim_print_json(pid, trim, &before, &after);
    else if (status == TOOL_OK)
        trim_print(pid, trim, &before, &after);
    free(view);
    free(trim);
    return status;
}

int trim_main(int argc, char **argv) {
    static const struct option longs[] = {
        {"swap", no_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool swap_is_fine = false, json = false;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "sjh", longs, NULL)) != -1) {
        switch (letter) {
        case 's':
            swap_is_fine = true;
            break;
        case 'j':
            json = true;
            break;
        case 'h':
            fputs(trim_help, stdout);
            return tool_finish(TOOL_OK);
        default:
            return tool_usage_option("trim", argv);
        }
    }
    int worst = tool_pids("trim", argc - optind, argv + optind);
    if (worst != TOOL_OK)
        return worst;
    bool has_swap = tool_has_swap();
    if (has_swap && !swap_is_fine)
        return tool_error(
            TOOL_UNAVAILABLE,
            "this machine has swap, and memory in use could be written there; --swap does it all the same");
    if (json)
        json_array(NULL);
    for (int i = optind; i < argc; i++) {
        pid_t pid = 0;
        (void)tool_pid(argv[i], &pid);
        int status = trim_process(pid, has_swap, json);
        worst = worst == TOOL_OK ? status : worst;
    }
    if (json)
        json_end();
    return tool_finish(worst);
}
