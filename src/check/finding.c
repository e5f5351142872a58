/* Reports: a fault at an instruction is one report, however often it happens. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "exec/fault.h"
#include "exec/program.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/text/symbol.h"

#define FINDINGS_MAX 1000
#define TEXT_MAX 512

static const struct {
    const char *name, *key;
} faults[] = {
#define FAULT(id, name, key) {name, key},
#include "check/faults.def"
#undef FAULT
};

int insn_line(const struct exec_program *program, uint32_t pc)
{
    const struct ptx_insn *insn = program->insns[pc];
    return insn ? insn->loc.line : 0;
}

const char *fault_name(enum fault_kind kind)
{
    return faults[kind].name;
}

const char *fault_key(enum fault_kind kind)
{
    return faults[kind].key;
}

void finding_text(struct check *check, char **text, const char *fmt, ...)
{
    char buffer[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer, sizeof buffer, fmt, args);
    va_end(args);
    free(*text);
    *text = strdup(buffer);
    check->failed |= !*text;
}

static void finding_free(struct finding *f)
{
    free(f->what);
    free(f->kernel);
    free(f->file);
    free(f->source);
    free(f->caller);
    free(f->where);
    free(f->detail);
}

static struct finding *find(struct check *check, enum fault_kind kind, const void *program,
                            uint32_t pc, uint32_t allocation)
{
    for (size_t i = 0; i < check->findings.count; i++) {
        struct finding *f = &check->findings.data[i];
        bool same = allocation & OF_HEAP ? f->of_heap : f->allocation == allocation;
        if (f->kind == kind && f->program == program && f->pc == pc && same)
            return f;
    }
    return NULL;
}

static int unknown_kind(const char *what, int length)
{
    struct strbuf kinds = {0};
    for (int i = 0; i < FAULT_KINDS; i++)
        strbuf_printf(&kinds, "%s%s", i ? ", " : "", faults[i].key);
    int rc = error_set(SONDE_EINPUT, "'%.*s' is no kind of report; there are: %s", length, what,
                       strbuf_text(&kinds));
    strbuf_free(&kinds);
    return rc;
}

static int suppress_one(struct check *check, const char *what, size_t length)
{
    const char *colon = memchr(what, ':', length);
    size_t key = colon ? (size_t)(colon - what) : length;
    struct suppression s = {.any = key == 1 && *what == '*'};
    int kind = s.any ? 0 : FAULT_KINDS;
    for (int i = 0; i < FAULT_KINDS; i++)
        if (strlen(faults[i].key) == key && memcmp(faults[i].key, what, key) == 0)
            kind = i;
    if (kind == FAULT_KINDS)
        return unknown_kind(what, (int)key);
    s.kind = (enum fault_kind)kind;
    s.kernel = colon ? strndup(colon + 1, length - key - 1) : NULL;
    if ((colon && !s.kernel) || vec_push(&check->suppressions, s) < 0) {
        free(s.kernel);
        return error_memory();
    }
    return 0;
}

/* Up to a comma that is not within a kernel's template arguments. */
static size_t length_of_one(const char *list)
{
    size_t i = 0, depth = 0;
    for (; list[i] && (list[i] != ',' || depth > 0); i++)
        depth += (list[i] == '<') - (list[i] == '>' && depth > 0);
    return i;
}

int check_suppress(struct check *check, const char *list)
{
    int rc = 0;
    for (const char *at = list; rc == 0 && at && *at;) {
        size_t length = length_of_one(at);
        rc = suppress_one(check, at, length);
        at += length + (at[length] == ',');
    }
    return rc;
}

/* A kernel is named as the module has it, or as its source, without parameters. */
static bool is_of(struct suppression *s, const char *kernel)
{
    if (!s->kernel || !kernel)
        return !s->kernel;
    if (!s->asked || strcmp(s->asked, kernel) != 0) {
        char *name = symbol_bare(symbol_readable(kernel));
        free(s->asked);
        s->asked = strdup(kernel);
        s->answer = strcmp(s->kernel, kernel) == 0 || (name && strcmp(s->kernel, name) == 0);
        free(name);
    }
    return s->answer;
}

static bool is_suppressed(const struct check *check, enum fault_kind kind, const char *kernel)
{
    for (size_t i = 0; i < check->suppressions.count; i++) {
        struct suppression *s = &check->suppressions.data[i];
        if ((s->any || s->kind == kind) && is_of(s, kernel))
            return true;
    }
    return false;
}

/* A new one, or the equal one with its count raised; NULL: there is no place for it. */
static struct finding *take(struct check *check, enum fault_kind kind, const void *program,
                            uint32_t pc, uint32_t allocation)
{
    struct finding *f = find(check, kind, program, pc, allocation);
    if (f) {
        f->count++;
        return f;
    }
    if (check->findings.count == FINDINGS_MAX) {
        check->dropped++;
        return NULL;
    }
    struct finding new = {.kind = kind,
                          .count = 1,
                          .program = program,
                          .pc = pc,
                          .allocation = allocation & ~OF_HEAP,
                          .of_heap = allocation & OF_HEAP};
    if (vec_push(&check->findings, new) < 0) {
        check->failed = true;
        return NULL;
    }
    return &vec_last(&check->findings);
}

struct finding *finding_of_host(struct check *check, enum fault_kind kind, uint32_t key)
{
    return is_suppressed(check, kind, NULL) ? NULL : take(check, kind, NULL, 0, key);
}

struct finding *finding_at(struct check *check, enum fault_kind kind, const struct exec_warp *warp,
                           uint32_t pc, uint32_t lane, uint32_t allocation)
{
    const struct exec_program *program = warp->state->program;
    if (is_suppressed(check, kind, program->functions[0]->func->name))
        return NULL;
    struct finding *f = take(check, kind, program, pc, allocation);
    if (!f || f->count > 1)
        return f;
    const struct ptx_insn *insn = program->insns[pc];
    const struct ptx_loc *loc = insn ? &insn->loc : &program->functions[0]->func->loc;
    finding_text(check, &f->kernel, "%s", program->functions[0]->func->name);
    finding_text(check, &f->file, "%s", fault_file(program, pc));
    f->line = loc->line;
    f->column = loc->column;
    if (insn && insn->source.file) {
        finding_text(check, &f->source, "%s", insn->source.file);
        f->source_line = insn->source.line;
    }
    if (insn && insn->source.caller_file) {
        finding_text(check, &f->caller, "%s", insn->source.caller_file);
        f->caller_line = insn->source.caller_line;
    }
    f->has_thread = true;
    memcpy(f->block, warp->cta->ctaid, sizeof f->block);
    fault_thread(f->thread, warp, lane);
    return f;
}

struct finding *finding_in_shared(struct check *check, enum fault_kind kind,
                                  const struct exec_warp *warp, uint32_t pc, uint32_t lane,
                                  uint64_t address)
{
    struct finding *f = finding_at(check, kind, warp, pc, lane, 0);
    if (!f || f->count > 1)
        return NULL;
    f->has_address = true;
    f->address = address;
    return f;
}

bool finding_turned(struct check *check, enum fault_kind kind, const void *program, uint32_t pc,
                    uint32_t other_pc)
{
    for (size_t i = 0; pc != other_pc && i < check->findings.count; i++) {
        struct finding *f = &check->findings.data[i];
        if (f->kind == kind && f->program == program && f->pc == other_pc && f->other_pc == pc) {
            f->count++;
            return true;
        }
    }
    return false;
}

void finding_early(struct check *check, const void *program, uint32_t pc, uint32_t places)
{
    struct finding *f = find(check, FAULT_UNINITIALISED, program, pc, 0);
    if (f)
        f->early += places;
}

void finding_early_over(struct check *check, const void *program, uint32_t pc)
{
    struct finding *f = find(check, FAULT_UNINITIALISED, program, pc, 0);
    if (!f || f->early == 0 || --f->early > 0)
        return;
    finding_free(f);
    size_t behind = (size_t)(check->findings.data + check->findings.count - (f + 1));
    memmove(f, f + 1, behind * sizeof *f);
    check->findings.count--;
}

void check_take(struct check *check, struct check *from)
{
    check->dropped += from->dropped;
    check->failed |= from->failed;
    for (size_t i = 0; i < from->findings.count; i++) {
        struct finding f = from->findings.data[i];
        f.program = f.what; /* its own: nothing is equal to it any more */
        if (vec_push(&check->findings, f) < 0) {
            check->failed = true;
            return;
        }
    }
    vec_clear(&from->findings);
}

void findings_free(struct check *check)
{
    for (size_t i = 0; i < check->findings.count; i++)
        finding_free(&check->findings.data[i]);
    vec_free(&check->findings);
    for (size_t i = 0; i < check->suppressions.count; i++) {
        free(check->suppressions.data[i].kernel);
        free(check->suppressions.data[i].asked);
    }
    vec_free(&check->suppressions);
}
