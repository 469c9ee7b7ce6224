/* Emptying the caches of threads that sleep, or do nothing small: what they hold goes back to its slabs, within
   two epochs. The protocol is in cache.h. By the purge thread, or by who purges everything; one at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Looks at the caches, if that is due: of those that are as they were at the last look all goes back, but for
   the bin that their thread used last. With no lock held. */
void cache_drain_poll(uint64_t now_ns);

/* The same of all caches at once, used of late or not. */
void cache_drain_all(void);

/* When to look; UINT64_MAX: nothing changed since everything was drained. */
uint64_t cache_drain_due_ns(void);

/* Something was put into a cache. */
void cache_drain_note_news(void);

void cache_drain_after_fork(bool child);
