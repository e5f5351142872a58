/*
 * The probe `instruction`: what its two files share. A kind is a row of trace/instructions.def; its
 * kernel has chains, each of which is a sequence of instructions that depend on each other.
 */
#ifndef SONDE_PROBE_INSTRUCTION_INSTRUCTION_H
#define SONDE_PROBE_INSTRUCTION_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

enum { INSTRUCTION_CHAINS_MAX = 16 };

struct instruction_kind {
    const char *op, *x, *y, *sm;
    uint32_t lines;
    uint64_t start, other;
    const char *init, *first, *second;
};

const struct instruction_kind *instruction_find(const char *op); /* NULL: none */
const struct instruction_kind *instruction_at(size_t i);         /* NULL past the last */
/* Lines of the shorter loop when so many are asked for, 0 for the kind's own number: whole turns of
 * all chains. */
uint32_t instruction_lines(const struct instruction_kind *kind, uint32_t chains, uint32_t asked);
/* The kernel; free() it. NULL when memory is out. */
char *instruction_text(const struct instruction_kind *kind, uint32_t chains, uint32_t lines);
/* The same by the name of a variant, "ffma.4.32". */
int instruction_variant(char **out, const char *variant);

#endif
