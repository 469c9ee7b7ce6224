/* A project that uses Fallow from outside: its malloc is Fallow's, and the native calls are there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fallow/fallow.h>

int main(void) {
    struct fallow_stats before, after;
    fallow_stats(&before);
    char *block = malloc(40000000);
    if (block == NULL) {
        return 1;
    }
    memset(block, 1, 40000000);
    fallow_stats(&after);
    if (after.active_bytes < before.active_bytes + 40000000) {
        puts("malloc is not Fallow's");
        return 2;
    }
    free(block);
    void *own = fallow_malloc(100);
    fallow_free(own);
    fallow_purge(FALLOW_PURGE_CLEAN);
    puts("Fallow from outside");
    return 0;
}
