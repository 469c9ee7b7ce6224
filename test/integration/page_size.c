/*
 * The page size is what the kernel says, or in debug builds what FALLOW_TEST_PAGE_BYTES says, and shows
 * where it should: the argument is how many bytes are expected. Then blocks of all kinds come and go under
 * purges, of which debug builds assert that each is of whole pages.
 */
#include <unistd.h>

#include "work.h"

int main(int count, char **arguments) {
    static struct work work;
    size_t page = count == 2 ? strtoul(arguments[1], NULL, 10) : (size_t)sysconf(_SC_PAGESIZE);
    size_t most = 0;
    for (size_t bytes = 300001; bytes < 3000000; bytes += 333333) {
        unsigned char *block = malloc(bytes), *aligned = valloc(bytes), *whole = pvalloc(bytes);
        CHECK(block != NULL && aligned != NULL && whole != NULL);
        size_t usable = malloc_usable_size(block);
        CHECK_THAT(usable == (bytes + page - 1) / page * page, "%zu of %zu bytes usable", usable,
                   bytes);
        CHECK((uintptr_t)aligned % page == 0 && (uintptr_t)whole % page == 0);
        CHECK(malloc_usable_size(whole) % page == 0);
        memset(block, 1, usable);
        most = usable - bytes > most ? usable - bytes : most;
        free(block);
        free(aligned);
        free(whole);
    }
    CHECK_THAT(most > page / 2, "at most %zu bytes are rounded up", most);
    for (int round = 0; round < 4; round++) {
        work_alone(&work);
        work_threads(&work);
        work_fork(&work);
    }
    work_drop_all(&work);
    return 0;
}
