/* Reads /sys/kernel/mm/transparent_hugepage and /proc/self/status. No state. A file that is missing is
   an older kernel's: the setting it would hold is taken to be the permissive one, but for the main
   switch, without which there are no huge pages at all. */
#include "os_thp.h"

#include <string.h>

#include "fmt.h"
#include "os_file.h"
#include "os_page.h"

enum { THP_PATH_BYTES = 512, THP_STATUS_BYTES = 4096 };

static bool thp_read(const char *root, const char *path, char *text, size_t cap) {
    char full[THP_PATH_BYTES];
    struct fmt f = fmt_start(full, sizeof full);
    fmt_str(&f, root);
    fmt_str(&f, path);
    return !fmt_is_full(&f) && os_file_read_all(full, text, cap) > 0;
}

bool os_thp_usable_at(const char *root) {
    char text[THP_STATUS_BYTES];
    /* The geometry of this code: huge pages of 2 MiB are those above pages of 4 KiB. */
    if (os_page_size() != 4096)
        return false;
    if (thp_read(root, "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled", text,
                 sizeof text) &&
        strstr(text, "[inherit]") == NULL) {
        if (strstr(text, "[never]") != NULL)
            return false;
    } else if (!thp_read(root, "/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) ||
               strstr(text, "[never]") != NULL) {
        return false;
    }
    return !thp_read(root, "/proc/self/status", text, sizeof text) ||
           strstr(text, "\nTHP_enabled:\t0") == NULL;
}

bool os_thp_usable(void) {
    return os_thp_usable_at("");
}
