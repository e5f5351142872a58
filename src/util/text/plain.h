/*
 * Numbers with a point, whatever locale the program has chosen in whose process Sonde runs: between
 * plain_begin() and plain_end(), of the calling thread alone.
 */
#ifndef SONDE_UTIL_PLAIN_H
#define SONDE_UTIL_PLAIN_H

#include <locale.h>

locale_t plain_begin(void);
/* `before`: what plain_begin() returned. */
void plain_end(locale_t before);

#endif
