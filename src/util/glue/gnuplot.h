/*
 * Drawings by gnuplot, where it is installed: a script ID.gp in a folder makes ID.svg and ID.png
 * there. A drawing appears under its name only when it is whole.
 */
#ifndef SONDE_UTIL_GNUPLOT_H
#define SONDE_UTIL_GNUPLOT_H

#include <stddef.h>

#define GNUPLOT_FORMATS 2
#define GNUPLOT_MISSING 127 /* in *failed: gnuplot is not installed */

struct strbuf;

/* Appends the commands that direct what is plotted next to the drawing in a format. */
void gnuplot_put_output(struct strbuf *script, const char *id, size_t format);
/* Writes the script and runs it in the folder. *failed: gnuplot's exit status, 0 when it has drawn;
 * no drawing is no error. */
int gnuplot_draw(const char *folder, const char *id, const char *script, int *failed);
/* Writes FOLDER/ID.SUFFIX: the data of a drawing. */
int gnuplot_write(const char *folder, const char *id, const char *suffix, const char *text);

#endif
