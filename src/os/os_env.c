#include "os_env.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *os_env(const char *name) {
    size_t length = strlen(name);
    if (getauxval(AT_SECURE) != 0 || environ == NULL)
        return NULL;
    for (char **entry = environ; *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}
