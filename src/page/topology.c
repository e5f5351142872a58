/* A hierarchy as text: boxes of ASCII within boxes, or of lines where the terminal can. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/box.h"
#include "page/page.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"

enum { LEAST_WIDTH = 24 };

struct pen {
    struct strbuf out;
    const struct topology_style *style;
    int depth; /* boxes around */
    int width; /* between their borders */
};

static const char *const plain[] = {"+", "+", "+", "+", "-", "|"};
static const char *const lines[] = {"┌", "┐", "└", "┘", "─", "│"};
enum { TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT, ACROSS, DOWN };

static const char *edge(const struct pen *pen, int which)
{
    return pen->style->utf8 ? lines[which] : plain[which];
}

static const char *colour_of(const char *kind)
{
    return strcmp(kind, "cache") == 0    ? "\033[32m"
           : strcmp(kind, "tlb") == 0    ? "\033[36m"
           : strcmp(kind, "shared") == 0 ? "\033[35m"
           : strcmp(kind, "memory") == 0 ? "\033[33m"
                                         : "\033[1m";
}

static void put_colour(struct pen *pen, const char *sequence)
{
    strbuf_append(&pen->out, pen->style->colour ? sequence : "");
}

/* The borders of the boxes around, on either side. */
static void put_left(struct pen *pen)
{
    for (int i = 0; i < pen->depth; i++) {
        strbuf_printf(&pen->out, "%s ", edge(pen, DOWN));
    }
}

static void put_right(struct pen *pen)
{
    for (int i = 0; i < pen->depth; i++) {
        strbuf_printf(&pen->out, " %s", edge(pen, DOWN));
    }
    strbuf_append(&pen->out, "\n");
}

/* A row of the inside: text cut to the width, and what stands at its right end. */
static void put_row(struct pen *pen, const char *kind, const char *text, const char *badge)
{
    int room = pen->width - (int)strlen(badge) - (badge[0] ? 1 : 0);
    int length = (int)strlen(text) < room ? (int)strlen(text) : room;
    put_left(pen);
    put_colour(pen, kind ? colour_of(kind) : "");
    strbuf_append_n(&pen->out, text, (size_t)length);
    put_colour(pen, kind ? "\033[0m" : "");
    strbuf_printf(&pen->out, "%*s%s", pen->width - length - (int)strlen(badge), "", badge);
    put_right(pen);
}

static void put_border(struct pen *pen, int left, int right)
{
    put_left(pen);
    strbuf_append(&pen->out, edge(pen, left));
    for (int i = 0; i < pen->width - 2; i++) {
        strbuf_append(&pen->out, edge(pen, ACROSS));
    }
    strbuf_append(&pen->out, edge(pen, right));
    put_right(pen);
}

/* The lines of a box, several in a row of the drawing where they fit. */
static void put_lines(struct pen *pen, const struct box *box)
{
    char row[BOX_TEXT * 2] = "  ";
    for (size_t i = 0; i < box->line_count; i++) {
        int length = (int)strlen(row);
        bool fits = length + 2 + (int)strlen(box->line[i]) <= pen->width;
        if (length > 2 && !fits) {
            put_row(pen, NULL, row, "");
            length = 2;
        }
        snprintf(row + length, sizeof row - (size_t)length, "%s%s", length > 2 ? "; " : "",
                 box->line[i]);
    }
    if (box->line_count > 0) {
        put_row(pen, NULL, row, "");
    }
}

/* A leaf is its title and lines; what holds others is a box around them. Recursive, a level of the
 * hierarchy each. */
static void put_box(struct pen *pen, const struct box *box)
{
    if (!box->first || pen->width < LEAST_WIDTH) {
        put_row(pen, box->kind, box->title, box->badge);
        put_lines(pen, box);
        return;
    }
    put_border(pen, TOP_LEFT, TOP_RIGHT);
    pen->depth++;
    pen->width -= 4;
    put_row(pen, box->kind, box->title, box->badge);
    put_lines(pen, box);
    for (const struct box *child = box->first; child; child = child->next) {
        put_box(pen, child);
    }
    pen->depth--;
    pen->width += 4;
    put_border(pen, BOTTOM_LEFT, BOTTOM_RIGHT);
}

int page_topology(char **text, const json_t *dissection, const struct topology_style *style)
{
    struct arena *arena = arena_create();
    struct box *root = arena ? box_hierarchy(arena, dissection) : NULL;
    struct pen pen = {.style = style, .width = style->columns};
    *text = NULL;
    if (root) {
        put_box(&pen, root);
        *text = strbuf_take(&pen.out);
    }
    strbuf_free(&pen.out);
    arena_destroy(arena);
    return *text ? 0 : error_memory();
}
