/* Finds the outline. It is a constant with addresses in it, so it lies in a mapping of the program's or library's file of
   which the loader wrote some pages: those mappings alone are searched, so that no page becomes resident there by the search.
   It begins with a magic and its own address; a copy of the bytes elsewhere is not taken for it. */
#include "heap_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"
#include "tool.h"
#include "tool_process.h"

enum { VIEW_PIECE_BYTES = 1 << 20, VIEW_STEP = 8, VIEW_SHIFT_MAX = 40 };

struct view_search {
    struct heap_view *view;
    char *piece;
    bool found;
    int error;              /* of the first read that failed */
    uint32_t other_version; /* of an outline that this command cannot read */
};

/* Whether the outline begins at `at`. */
static bool view_take(struct view_search *search, uint64_t at) {
    struct outline *outline = &search->view->outline;
    enum { HEAD = offsetof(struct outline, library) };
    if (!remote_read(search->view->pid, at, outline, HEAD) || remote_address(outline->self) != at)
        return false;
    if (outline->version != OUTLINE_VERSION || outline->bytes < sizeof *outline) {
        search->other_version = outline->version;
        return false;
    }
    return remote_read(search->view->pid, at, outline, sizeof *outline);
}

static void view_search_mapping(const struct process_memory *mapping, void *context) {
    static const unsigned char magic[OUTLINE_MAGIC_BYTES] = OUTLINE_MAGIC;
    struct view_search *search = context;
    if (search->found || mapping->permissions[0] != 'r' || mapping->permissions[3] != 'p' ||
        mapping->path[0] != '/' || mapping->anonymous == 0)
        return;
    size_t bytes;
    for (uintptr_t at = mapping->start; at < mapping->end; at += bytes) {
        bytes = mapping->end - at < VIEW_PIECE_BYTES ? mapping->end - at : VIEW_PIECE_BYTES;
        if (!remote_read(search->view->pid, at, search->piece, bytes)) {
            search->error = search->error != 0 ? search->error : errno;
            continue;
        }
        for (size_t i = 0; i + sizeof magic <= bytes; i += VIEW_STEP) {
            if (memcmp(search->piece + i, magic, sizeof magic) == 0 && view_take(search, at + i)) {
                snprintf(search->view->path, sizeof search->view->path, "%s", mapping->path);
                search->found = true;
                return;
            }
        }
    }
}

/* What other values would lead astray. */
static bool view_is_sound(const struct outline *outline) {
    return outline->chunk_shift > outline->granule_shift && outline->chunk_shift < VIEW_SHIFT_MAX &&
           outline->chunk_shift - outline->granule_shift <= 7 && outline->granule_shift >= 12 &&
           outline->classes.count == CLASS_COUNT;
}

static bool view_read_parts(struct heap_view *view) {
    const struct outline *outline = &view->outline;
    struct remote_batch *batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        return false;
    remote_add(batch, remote_address(outline->arenas), &view->arenas, sizeof view->arenas);
    remote_add(batch, remote_address(outline->space), &view->space, sizeof view->space);
    remote_add(batch, remote_address(outline->metadata), &view->metadata, sizeof view->metadata);
    remote_add(batch, remote_address(outline->heaps), &view->heaps, sizeof view->heaps);
    remote_add(batch, remote_address(outline->counters), &view->counters, sizeof view->counters);
    remote_add(batch, remote_address(outline->options), &view->options, sizeof view->options);
    bool read = remote_run(view->pid, batch);
    free(batch);
    return read;
}

int heap_view_error(const struct heap_view *view) {
    return process_error(view->pid, errno, "reading its memory");
}

int heap_view_open(pid_t pid, struct heap_view *out) {
    struct view_search search = {.view = out, .piece = malloc(VIEW_PIECE_BYTES)};
    *out = (struct heap_view){.pid = pid};
    if (search.piece == NULL)
        return tool_error(TOOL_FAILED, "%s", strerror(errno));
    int status = process_smaps(pid, view_search_mapping, &search);
    free(search.piece);
    if (status != TOOL_OK)
        return status;
    if (search.found && !view_is_sound(&out->outline))
        search.other_version = out->outline.version;
    if (search.other_version != 0 && (!search.found || !view_is_sound(&out->outline)))
        return tool_error(
            TOOL_UNAVAILABLE,
            "process %d has a Fallow whose outline, version %u, this command cannot read (it knows %d)",
            (int)pid, search.other_version, OUTLINE_VERSION);
    if (!search.found && search.error != 0) {
        errno = search.error;
        return heap_view_error(out);
    }
    struct process_memory sum;
    if (!search.found &&
        (status = process_sum(pid, &sum)) != TOOL_OK) /* it has ended, or is the kernel's */
        return status;
    if (!search.found)
        return tool_error(TOOL_NO_FALLOW,
                          "process %d runs without Fallow ('fallow run' starts a program with it)",
                          (int)pid);
    return view_read_parts(out) ? TOOL_OK : heap_view_error(out);
}
