/*
 * The PTX version and the target that an opcode needs (isa/since.def), held against the module's.
 */
#include "ptx/parser.h"

#include <string.h>

struct since {
    const char *word, *parts;
    int version, sm;
};

static const struct since rows[] = {
#define SINCE(word, parts, version, sm) {word, parts, version, sm},
#include "isa/since.def"
};

/* The place behind part `word` (`length` letters) of "add.rn.f32", searched from `from` on, or
 * NULL. */
static const char *find_part(const char *from, const char *word, size_t length)
{
    for (const char *dot = strchr(from, '.'); dot != NULL; dot = strchr(dot + 1, '.'))
        if (strncmp(dot + 1, word, length) == 0 && (dot[1 + length] == '.' || dot[1 + length] == 0))
            return dot + 1 + length;
    return NULL;
}

static bool applies(const struct since *row, const char *opcode)
{
    if (row->word[0] != '*' && row->word[0] != opcode[0])
        return false;
    size_t length = strcspn(opcode, ".");
    if (row->word[0] != '*' &&
        (strlen(row->word) != length || strncmp(row->word, opcode, length) != 0))
        return false;
    const char *behind = opcode; /* types follow each other */
    for (const char *part = row->parts; *part != '\0';) {
        size_t letters = strcspn(part, " ");
        bool is_type = isa_type_find(part, letters) != TYPE_NONE;
        const char *end = find_part(is_type ? behind : opcode, part, letters);
        if (end == NULL)
            return false;
        behind = is_type ? end : behind;
        part += letters + (part[letters] == ' ');
    }
    return true;
}

int since_check(struct parser *p, const char *opcode, struct ptx_loc loc)
{
    const struct ptx_module *m = p->module;
    int version = 0, sm = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!applies(&rows[i], opcode))
            continue;
        version = rows[i].version > version ? rows[i].version : version;
        sm = rows[i].sm > sm ? rows[i].sm : sm;
    }
    if (m->version_major * 10 + m->version_minor < version)
        return parser_error(p, loc, "'%s' needs .version %d.%d or later", opcode, version / 10,
                            version % 10);
    if (m->target_sm < sm)
        return parser_error(p, loc, "'%s' needs .target sm_%d or higher", opcode, sm);
    return 0;
}
