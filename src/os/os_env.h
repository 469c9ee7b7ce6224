/* The environment. */
#pragma once

/* The value of a variable; NULL if there is none, and in programs that run with more rights than their user. Does not
   call getenv, which others replace. */
const char *os_env(const char *name);
