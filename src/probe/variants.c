/*
 * One kernel text, several variants: another opcode in the timed load must change nothing around
 * it, so the files in kernels/ are written once and adapted here. A line that begins with "//NAME:"
 * belongs to the variant NAME and is a comment in the others; the table says what is replaced. A
 * variant NAME.COUNT.STEP[.TAG[.TAG]] writes lines that begin with "//[*]" COUNT times, with {i}
 * their number from 0 and {offset} STEP times that; {end} is STEP times COUNT, and lines of
 * "//TAG:" belong to it too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/glue/embed.h"
#include "util/error.h"
#include "util/container/strbuf.h"

extern const struct embedded_file probe_kernel_files[];

struct edit {
    const char *variant, *from, *to;
};

/* The load that is timed, and how the next address comes from what it returned. */
#define LOAD "ld.global.ca.u32 %offset, [%address]"
#define NEXT "mad.wide.u32    %address, %offset, %scale, %elements"
#define GLOBAL "    cvta.to.global.u64 %elements, %elements;\n"

/* clang-format off */
static const struct edit edits[] = {
    {"cg", "ld.global.ca", "ld.global.cg"},
    {"cv", "ld.global.ca", "ld.global.cv"},
    {"nc", "ld.global.ca", "ld.global.nc"},
    {"nc", ".target sm_30", ".target sm_35"},
    {"const", LOAD, "ld.const.u32    %offset, [%address]"},
    {"const", GLOBAL, ""},
    {"local", LOAD, "ld.local.ca.u32 %offset, [%address]"},
    {"local", GLOBAL, ""},
    {"tex", LOAD, "tex.1d.v4.u32.s32 {%offset, %green, %blue, %alpha}, [%handle, {%index}]"},
    {"tex", GLOBAL, ""},
    /* A quarter of the offset, rounded down, in one instruction. */
    {"tex", NEXT, "mad.hi.u32      %index, %offset, %quarter, %base"},
    /* What comes first reads other lines of the same pages. */
    {"cold", "[%next+", "[%aside+"},
    {"cold", "%next, %out", "%next, %aside, %out"},
    {"cold", "    .param .u32 more\n", "    .param .u32 more,\n    .param .u64 aside\n"},
    {"cold", "    mov.u32         %sum, 0;\n",
     "    ld.param.u64    %aside, [aside];\n    add.u64         %aside, %aside, %next;\n"
     "    mov.u32         %sum, 0;\n"},
    /* The half of the word that is its turn's; bit 0: from there on it is the other turn. */
    {"turns", NEXT,
     "shr.b32         %offset, %offset, %turn;\n"
     "    and.b32         %flip, %offset, 1;\n"
     "    shl.b32         %flip, %flip, 4;\n"
     "    xor.b32         %turn, %turn, %flip;\n"
     "    and.b32         %offset, %offset, 0xfffc;\n"
     "    " NEXT},
    /* What is filled in goes by the first turn, and comes word by word. */
    {"turns", "mad.wide.u32    %at, %offset",
     "and.b32         %offset, %offset, 0xfffc;\n    mad.wide.u32    %at, %offset"},
    {"turns", "@%p ld.global.cg.u32 %next", "ld.global.cg.u32 %next"},
    /* Of a line that L1 is to keep, whatever the others are. */
    {"hit", "ld.kept", "ld.global"},
    {"+ca", "ld.other", "ld.global"},
    {"+nc", "ld.other", "ld.global"},
    {"+nc", ".target sm_30", ".target sm_35"},
    {"word8", ".b32   %data", ".b64   %data"},
    {"word8", "shared.b32", "shared.b64"},
    {"word8", "mov.b32         %data, %at", "cvt.u64.u32     %data, %at"},
    {"word8", "mov.b32         %wrong, %data", "cvt.u32.u64     %wrong, %data"},
};

/* GPUs before Kepler have no nanosecond timer; the chase does without (its ns are 0). */
static const struct edit fermi_edits[] = {
    {"chase", ".target sm_30", ".target sm_20"},
    {"chase", "%globaltimer", "0"},
    {"evict", ".target sm_30", ".target sm_20"},
    {"held", ".target sm_30", ".target sm_20"},
    {"peers", ".target sm_30", ".target sm_20"},
    {"scope", ".target sm_30", ".target sm_20"},
    {"flight", ".target sm_30", ".target sm_20"},
    {"flight", "%globaltimer", "0"},
};
/* clang-format on */

enum { TAGS = 2 };

/* A variant's name taken apart: NAME[.COUNT.STEP[.TAG[.TAG]]]. */
struct choice {
    char name[16], tags[TAGS][16];
    uint32_t count, step;
};

static struct choice choice_of(const char *variant)
{
    struct choice choice = {0};
    const char *dot = variant ? strchr(variant, '.') : NULL;
    size_t length = dot ? (size_t)(dot - variant) : variant ? strlen(variant) : 0;
    snprintf(choice.name, sizeof(choice.name), "%.*s", (int)length, variant ? variant : "");
    if (dot) {
        char *end;
        choice.count = (uint32_t)strtoul(dot + 1, &end, 10);
        choice.step = *end == '.' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
        for (int i = 0; i < TAGS && *end == '.'; i++) {
            size_t tag = strcspn(end + 1, ".");
            snprintf(choice.tags[i], sizeof(choice.tags[i]), "%.*s", (int)tag, end + 1);
            end += 1 + tag;
        }
    }
    return choice;
}

/* A line with its numbers filled in. */
static void fill_line(struct strbuf *out, const char *line, size_t length,
                      const struct choice *choice, uint32_t i)
{
    const struct {
        const char *text;
        uint32_t value;
    } places[] = {
        {"{i}", i}, {"{offset}", i * choice->step}, {"{end}", choice->count * choice->step}};
    for (const char *at = line; at < line + length;) {
        size_t k = 0, count = sizeof(places) / sizeof(places[0]);
        while (k < count && strncmp(at, places[k].text, strlen(places[k].text)) != 0) {
            k++;
        }
        if (k < count) {
            strbuf_printf(out, "%u", places[k].value);
            at += strlen(places[k].text);
        } else {
            strbuf_append_char(out, *at++);
        }
    }
}

/* Does the line begin with "//NAME:"? */
static bool is_marked(const char *line, size_t length, const char *name)
{
    size_t marker = strlen(name);
    return marker > 0 && length > marker + 3 && strncmp(line, "//", 2) == 0 &&
           strncmp(line + 2, name, marker) == 0 && line[2 + marker] == ':';
}

/* Of those of the variant's names that the line is marked with, the length; 0: none. */
static size_t mark_of(const char *line, size_t length, const struct choice *choice)
{
    const char *const names[] = {choice->name, choice->tags[0], choice->tags[1]};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is_marked(line, length, names[i])) {
            return strlen(names[i]);
        }
    }
    return 0;
}

/* The text with its variant's lines. */
static char *choose_lines(const char *text, const struct choice *choice)
{
    struct strbuf out = {0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        size_t mark = mark_of(text, length, choice);
        if (mark > 0) {
            size_t skip = mark + 3;
            bool each = text[skip] == '*';
            for (uint32_t i = 0; i < (each ? choice->count : 1); i++) {
                fill_line(&out, text + skip + each, length - skip - each, choice, i);
            }
        } else if (strncmp(text, "//*", 3) == 0) {
            for (uint32_t i = 0; i < choice->count; i++) {
                fill_line(&out, text + 3, length - 3, choice, i);
            }
        } else {
            fill_line(&out, text, length, choice, 0);
        }
        text += length;
    }
    return strbuf_take(&out);
}

/* Takes over `text`; NULL when memory is out. */
static char *replace_all(char *text, const struct edit *edit)
{
    struct strbuf out = {0};
    const char *rest = text;
    for (const char *at; (at = strstr(rest, edit->from)) != NULL; rest = at + strlen(edit->from)) {
        strbuf_append_n(&out, rest, (size_t)(at - rest));
        strbuf_append(&out, edit->to);
    }
    strbuf_append(&out, rest);
    free(text);
    return strbuf_take(&out);
}

static char *apply(char *text, const struct edit *table, size_t count, const char *name)
{
    for (size_t i = 0; text && i < count; i++) {
        if (strcmp(table[i].variant, name) == 0) {
            text = replace_all(text, &table[i]);
        }
    }
    return text;
}

int variant_text(char **out, const char *file, const char *variant, uint32_t compute_major)
{
    char name[48];
    snprintf(name, sizeof(name), "%s.ptx", file);
    const struct embedded_file *source = embed_find(probe_kernel_files, name);
    *out = NULL;
    if (!source) {
        return error_set(SONDE_EINTERNAL, "there is no kernel file '%s'", name);
    }
    char *text = malloc(source->size_bytes + 1);
    if (!text) {
        return error_memory();
    }
    memcpy(text, source->data, source->size_bytes);
    text[source->size_bytes] = '\0';
    struct choice choice = choice_of(variant);
    char *chosen = choose_lines(text, &choice);
    free(text);
    chosen = apply(chosen, edits, sizeof(edits) / sizeof(edits[0]), choice.name);
    for (int i = 0; i < TAGS; i++) {
        chosen = apply(chosen, edits, sizeof(edits) / sizeof(edits[0]), choice.tags[i]);
    }
    if (compute_major < 3) {
        chosen = apply(chosen, fermi_edits, sizeof(fermi_edits) / sizeof(fermi_edits[0]), file);
    }
    *out = chosen;
    return chosen ? SONDE_OK : error_memory();
}
