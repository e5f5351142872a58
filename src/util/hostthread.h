/*
 * The process's threads: which are Sonde's own, and whether a program that Sonde is loaded into has
 * others than the one that calls.
 */
#ifndef SONDE_UTIL_HOSTTHREAD_H
#define SONDE_UTIL_HOSTTHREAD_H

#include <stdbool.h>

/* The calling thread is Sonde's own: it does nothing that a program has asked for. Tools that list
 * threads show it by this name. */
void hostthread_is_ours(void);

/* Whether the process has no thread but the caller and Sonde's own; false where it cannot be told.
 */
bool hostthread_is_alone(void);

#endif
