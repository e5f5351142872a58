/*
 * The kernel of the probe `instruction`, for one kind of instruction and a number of chains:
 * kernels/instruction.ptx with the lines of trace/instructions.def. Each kind is a module of its
 * own, so that a GPU which lacks one refuses that one alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/instruction/instruction.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/embed.h"

extern const struct embedded_file probe_kernel_files[];

static const struct instruction_kind kinds[] = {
#define INSTRUCTION(op, group, sm, lines, stride, spread, x, y, start, other, init, first, second, \
                    doc)                                                                           \
    {#op, #x, #y, #sm, lines, UINT64_C(start), UINT64_C(other), init, first, second},
#include "trace/instructions.def"
};

const struct instruction_kind *instruction_find(const char *op)
{
    size_t count = sizeof(kinds) / sizeof(kinds[0]);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(kinds[i].op, op) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

const struct instruction_kind *instruction_at(size_t i)
{
    return i < sizeof(kinds) / sizeof(kinds[0]) ? &kinds[i] : NULL;
}

/* What stands for {c}, {i} and {at} in a line. */
struct place {
    uint32_t chain, line;
};

enum { CHAIN_BYTES = 512 }; /* of shared memory: 16 for each lane */

/* A text with its places filled in. */
static void fill(struct strbuf *out, const char *text, size_t length,
                 const struct instruction_kind *kind, const struct place *place)
{
    const struct {
        const char *name, *text;
        uint32_t value;
    } places[] = {{"{c}", NULL, place->chain},
                  {"{i}", NULL, place->line},
                  {"{at}", NULL, place->chain * CHAIN_BYTES},
                  {"{X}", kind->x, 0},
                  {"{Y}", kind->y, 0},
                  {"{SM}", kind->sm, 0}};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    for (const char *at = text; at < text + length;) {
        size_t k = 0;
        while (k < PLACES && strncmp(at, places[k].name, strlen(places[k].name)) != 0) {
            k++;
        }
        if (k == PLACES) {
            strbuf_append_char(out, *at++);
            continue;
        }
        at += strlen(places[k].name);
        if (places[k].text) {
            strbuf_append(out, places[k].text);
        } else {
            strbuf_printf(out, "%u", places[k].value);
        }
    }
}

static void put_line(struct strbuf *out, const char *text, const struct instruction_kind *kind,
                     const struct place *place)
{
    strbuf_append(out, "    ");
    fill(out, text, strlen(text), kind, place);
    strbuf_append_char(out, '\n');
}

/* So many timed lines: the chains in turn, each with its two lines in turn. */
static void put_lines(struct strbuf *out, const struct instruction_kind *kind, uint32_t chains,
                      uint32_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct place place = {i % chains, from + i};
        bool is_second = kind->second[0] && i / chains % 2 == 1;
        put_line(out, is_second ? kind->second : kind->first, kind, &place);
    }
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

uint32_t instruction_lines(const struct instruction_kind *kind, uint32_t chains, uint32_t asked)
{
    uint32_t step = kind->second[0] ? 2 * chains : chains, lines = asked ? asked : kind->lines;
    return (lines + step - 1) / step * step;
}

char *instruction_text(const struct instruction_kind *kind, uint32_t chains, uint32_t lines)
{
    static const char each[] = "//chain:";
    const struct embedded_file *source = embed_find(probe_kernel_files, "instruction.ptx");
    struct strbuf out = {0};
    const char *text = source ? (const char *)source->data : "";
    const char *end = text + (source ? source->size_bytes : 0);
    for (size_t length; text < end; text += length) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        length = line_end ? (size_t)(line_end - text) + 1 : (size_t)(end - text);
        bool is_init = begins(text, "//init:"), is_each = begins(text, each);
        size_t skip = is_each ? strlen(each) : 0;
        for (uint32_t c = 0; c < chains && (is_each || is_init); c++) {
            struct place place = {c, c};
            if (is_init) {
                put_line(&out, kind->init, kind, &place);
            } else {
                fill(&out, text + skip, length - skip, kind, &place);
            }
        }
        if (begins(text, "//lines:")) {
            put_lines(&out, kind, chains, 0, lines);
        } else if (begins(text, "//twice:")) {
            put_lines(&out, kind, chains, lines, 2 * lines);
        } else if (!is_each && !is_init) {
            fill(&out, text, length, kind, &(struct place){0, 0});
        }
    }
    return strbuf_take(&out);
}

int instruction_variant(char **out, const char *variant)
{
    char op[32];
    const char *dot = variant ? strchr(variant, '.') : NULL;
    snprintf(op, sizeof(op), "%.*s", dot ? (int)(dot - variant) : 0, dot ? variant : "");
    const struct instruction_kind *kind = instruction_find(op);
    char *end = NULL;
    uint32_t chains = dot ? (uint32_t)strtoul(dot + 1, &end, 10) : 0;
    uint32_t lines = end && *end == '.' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
    *out = NULL;
    if (!kind || chains < 1 || chains > INSTRUCTION_CHAINS_MAX || lines < 1) {
        return error_set(SONDE_EINTERNAL, "there is no kernel of '%s'", variant ? variant : "");
    }
    *out = instruction_text(kind, chains, lines);
    return *out ? SONDE_OK : error_memory();
}
