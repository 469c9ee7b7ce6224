/* Libraries that are opened with RTLD_DEEPBIND look for malloc and free in libc before they look where a preloaded
   library would be found. So that there is one heap, libc's table of symbols is made to say Fallow's for those names. */
#pragma once

/* Once, before the first such library is opened. Does nothing where the process does not use Fallow's malloc. */
void deepbind_prepare(void);
