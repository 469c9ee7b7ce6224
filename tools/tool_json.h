/* JSON on standard output, member by member. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* `name` is NULL for elements of an array, and for the outermost. */
void json_object(const char *name);
void json_array(const char *name);
void json_end(void); /* of either; after the outermost, a newline */

void json_u64(const char *name, uint64_t value);
void json_i64(const char *name, int64_t value);
void json_flag(const char *name, bool value);
void json_text(const char *name, const char *value);
