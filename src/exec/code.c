/* What tells kernels of one name apart: their code. */
#include <string.h>

#include "exec/program.h"
#include "util/hash.h"

static uint64_t hash_operands(uint64_t hash, const struct ptx_operand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *o = &operands[i];
        uint64_t sreg = o->kind == OPERAND_SREG ? (uint64_t)o->sreg : 0;
        const uint64_t words[] = {o->kind, o->type,   o->negate, o->has_reg, (uint64_t)o->reg,
                                  o->imm,  o->target, o->count,  sreg};
        bool has_elements =
            o->kind == OPERAND_VECTOR || o->kind == OPERAND_PAIR || o->kind == OPERAND_FETCH;
        bool has_var = (o->kind == OPERAND_VAR || o->kind == OPERAND_ADDR) && o->var;
        hash = hash_words(hash, words, sizeof words / sizeof *words);
        hash = hash_bytes(hash, &o->selector, sizeof o->selector);
        hash = has_var ? hash_bytes(hash, o->var->name, strlen(o->var->name)) : hash;
        hash = has_elements ? hash_operands(hash, o->elems, o->count) : hash;
    }
    return hash;
}

uint64_t program_hash(const struct exec_program *program)
{
    uint64_t hash = HASH_BEGIN;
    for (uint32_t pc = 0; pc < program->length; pc++) {
        const struct ptx_insn *insn = program->insns[pc];
        const uint64_t words[] = {insn ? insn->op : 0, insn ? (uint64_t)insn->loc.line : 0,
                                  insn ? (uint64_t)insn->guard : 0, insn && insn->guard_negate};
        hash = hash_words(hash, words, sizeof words / sizeof *words);
        if (insn) {
            hash = hash_bytes(hash, insn->mods, sizeof insn->mods);
            hash = hash_bytes(hash, insn->space, sizeof insn->space);
            hash = hash_bytes(hash, insn->types, sizeof insn->types);
            hash = hash_operands(hash, insn->operands, insn->operand_count);
        }
    }
    return hash;
}
