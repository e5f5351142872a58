/*
 * What may be shown. A device's name, a path, a recording's texts are whatever somebody wrote into
 * them; control sequences in there would steer the terminal that prints them.
 */
#ifndef SONDE_UTIL_PRINTABLE_H
#define SONDE_UTIL_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The length in bytes of the character at `character`, 0 for one that is not printable, and that
 * would not survive being written to YAML and read back: controls, line separators, byte order
 * marks, broken UTF-8, the end of the text.
 */
size_t printable_bytes(const char *character);

/*
 * The same text (free() it), in which every byte that is not of a printable character, a tab or the
 * end of a line is written \xNN. `colours`: sequences that choose colours stay. NULL: no memory.
 */
char *printable_text(const char *text, bool colours);

struct strbuf;
/* Appends `text` with every end of line written \x0a: a name must not look like two lines. */
void printable_append_name(struct strbuf *out, const char *text);

#endif
