/* See svg.h. */
#include "page/svg.h"

#include <stdio.h>
#include <string.h>

#include "util/container/strbuf.h"
#include "util/text/printable.h"

enum {
    WIDTH = 900,
    PAD = 12,
    LEAF_WIDTH = 268,
    TITLE_HEIGHT = 28,
    LINE_HEIGHT = 18,
};

void svg_escape(struct strbuf *out, const char *text)
{
    while (*text) {
        size_t bytes = printable_bytes(text);
        const char *word = *text == '<'   ? "&lt;"
                           : *text == '>' ? "&gt;"
                           : *text == '&' ? "&amp;"
                           : *text == '"' ? "&quot;"
                           : bytes == 0   ? "\xef\xbf\xbd"
                                          : NULL;
        if (word) {
            strbuf_append(out, word);
        } else {
            strbuf_append_n(out, text, bytes);
        }
        text += bytes ? bytes : 1;
    }
}

static int head_height(const struct box *box)
{
    return TITLE_HEIGHT + (int)box->line_count * LINE_HEIGHT + PAD / 2;
}

void svg_text(struct strbuf *out, const char *class, int x, int y, const char *text)
{
    strbuf_printf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    svg_escape(out, text);
    strbuf_append(out, "</text>\n");
}

static void put_frame(struct strbuf *out, const struct box *box, int x, int y, int width,
                      int height)
{
    strbuf_printf(
        out, "<rect class=\"box %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
        box->kind, x, y, width, height);
    svg_text(out, "title", x + PAD, y + 20, box->title);
    svg_text(out, "badge", x + width - PAD, y + 20, box->badge);
    for (size_t i = 0; i < box->line_count; i++) {
        svg_text(out, "line", x + PAD, y + TITLE_HEIGHT + 12 + (int)i * LINE_HEIGHT, box->line[i]);
    }
}

/* Leaves stand side by side. Returns where the last row ends. */
static int draw_leaves(struct strbuf *out, const struct box *parent, int x, int y, int width)
{
    int columns = (width + PAD) / (LEAF_WIDTH + PAD), column = 0, row_height = 0;
    columns = columns < 1 ? 1 : columns;
    int each = (width - (columns - 1) * PAD) / columns;
    for (const struct box *leaf = parent->first; leaf; leaf = leaf->next) {
        if (leaf->first) {
            continue;
        }
        if (column == columns) {
            y += row_height + PAD;
            column = row_height = 0;
        }
        int height = head_height(leaf);
        put_frame(out, leaf, x + column * (each + PAD), y, each, height);
        row_height = height > row_height ? height : row_height;
        column++;
    }
    return column ? y + row_height + PAD : y;
}

/* Draws what a box holds, then the box behind it. Recursive, a level of the hierarchy each; returns
 * the box's height. */
static int draw_box(struct strbuf *out, const struct box *box, int x, int y, int width)
{
    struct strbuf inside = {0};
    int at = draw_leaves(&inside, box, x + PAD, y + head_height(box), width - 2 * PAD);
    for (const struct box *child = box->first; child; child = child->next) {
        if (child->first) {
            at += draw_box(&inside, child, x + PAD, at, width - 2 * PAD) + PAD;
        }
    }
    put_frame(out, box, x, y, width, at - y);
    strbuf_append(out, strbuf_text(&inside));
    strbuf_free(&inside);
    return at - y;
}

void svg_hierarchy(struct strbuf *out, const struct box *root, const char *label)
{
    struct strbuf boxes = {0};
    int height = draw_box(&boxes, root, 1, 1, WIDTH - 2) + 2;
    strbuf_printf(out, "<svg class=\"hierarchy\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                  WIDTH, height);
    svg_escape(out, label);
    strbuf_printf(out, "\">\n%s</svg>\n", strbuf_text(&boxes));
    strbuf_free(&boxes);
}

/* Colours of a file by name: not all that read SVG know variables. */
static const char file_style[] =
    "<style>svg{background:#fff}text{fill:#1b1f24;font:13px sans-serif}.title{font-weight:600}"
    ".badge{text-anchor:end;fill:#0b62a8;font-weight:600}.line,.tick,.axis{fill:#59636e;font-size:"
    "12px}.middle{text-anchor:middle}.end{text-anchor:end}.grid{stroke:#c6ccd2;stroke-width:.6}"
    ".curve{fill:none;stroke:#0b62a8;stroke-width:2}.second{stroke:#1b1f24;stroke-dasharray:6 4}"
    ".dot{fill:#0b62a8}.other{fill:#1b1f24}.mark{stroke:#a01c1c;stroke-dasharray:4 3}.whisker{"
    "stroke:#1b1f24}.cell{stroke:#c6ccd2;fill:none}.cell.taken{fill:#0b62a8}.cell.low{fill:#c6ccd2}"
    ".box{stroke:#c6ccd2}.box.memory{fill:#fdf3dc}.box.cache{fill:#e3f3e4}.box.tlb{fill:#dff1f5}"
    ".box.shared{fill:#f3e5f5}.box.group{fill:#f4f5f7}</style>\n";

void svg_file(struct strbuf *out, const char *svg)
{
    const char *body = strchr(svg, '\n');
    if (strncmp(svg, "<svg ", 5) == 0 && body) {
        strbuf_append(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
        strbuf_append_n(out, svg + 5, (size_t)(body + 1 - svg) - 5);
        strbuf_append(out, file_style);
        strbuf_append(out, body + 1);
    }
}
