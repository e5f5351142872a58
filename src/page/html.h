/* Pieces of a page. */
#ifndef SONDE_PAGE_HTML_H
#define SONDE_PAGE_HTML_H

#include <jansson.h>

struct strbuf;

void html_begin(struct strbuf *out, const char *title, const char *subtitle);
/* What stands between them: sections, "<section><h2>TITLE</h2>...", with links to them in front. */
void html_sections(struct strbuf *out, const char *body);
void html_end(struct strbuf *out);

/* A bar that is `part` (0 to 1) of its width. */
void html_bar(struct strbuf *out, double part);

/* Of an object with "kernel" and, where there are several of that name, "variant". */
void html_kernel_name(struct strbuf *out, const json_t *kernel);

/* Any value of JSON: a scalar as text, a quantity with its confidence and, on demand, its evidence,
 * an object as rows of names and values, an array as a list. */
void html_value(struct strbuf *out, const json_t *value, const json_t *evidence);

/* The reports by schema. */
void html_dissection(struct strbuf *out, const json_t *document);
void html_study(struct strbuf *out, const json_t *document);
void html_sweep(struct strbuf *out, const json_t *document);
void html_statistics(struct strbuf *out, const json_t *document);
void html_profile(struct strbuf *out, const json_t *document);

#endif
