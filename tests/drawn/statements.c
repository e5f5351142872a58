/* Memory of every space, textures, and what threads exchange. */
#include "drawn/drawn.h"

#include <string.h>

/* A word that a thread's own register chooses, below a power of two, times `bytes`: in %z0, added
 * to a base. */
static void address_by_value(struct drawn *d, const char *base, uint32_t count, uint32_t bytes)
{
    strbuf_printf(d->out,
                  "    and.b32 %%x0, %%w%u, %u;\n    mul.wide.u32 %%z0, %%x0, %u;\n    add.u64 "
                  "%%z0, %%z0, %s;\n",
                  drawn_below(d, 8), count - 1, bytes, base);
}

static void load(struct drawn *d)
{
    static const struct {
        const char *text, *result;
        uint32_t bytes, registers;
    } loads[] = {
        {"ld.global.b32", "%w", 4, 8},          {"ld.global.nc.b32", "%w", 4, 8},
        {"ld.global.ca.f32", "%f", 4, 8},       {"ld.global.cg.f32", "%f", 4, 8},
        {"ld.global.u8", "%w", 1, 8},           {"ld.global.s16", "%w", 2, 8},
        {"ld.global.b64", "%d", 8, 8},          {"ldu.global.b32", "%w", 4, 8},
        {"ld.volatile.global.b64", "%d", 8, 8}, {"ld.b32", "%w", 4, 8},
    };
    uint32_t i = drawn_below(d, sizeof loads / sizeof *loads);
    uint32_t count = DRAWN_IN_WORDS * 4 / loads[i].bytes;
    address_by_value(d, "%in", count / 2, loads[i].bytes);
    strbuf_printf(d->out, "    %s %s%u, [%%z0+%u];\n", loads[i].text, loads[i].result,
                  drawn_below(d, loads[i].registers), loads[i].bytes * drawn_below(d, 256));
}

static void load_vector(struct drawn *d)
{
    uint32_t first = drawn_below(d, 8);
    address_by_value(d, "%in", 512, 16);
    if (drawn_below(d, 2)) {
        strbuf_printf(d->out, "    ld.global.v4.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, [%%z0];\n", first,
                      (first + 1) % 8, (first + 2) % 8, (first + 5) % 8);
    } else {
        strbuf_printf(d->out, "    ld.global.nc.v2.b32 {%%w%u, %%w%u}, [%%z0+8];\n", first,
                      (first + 3) % 8);
    }
}

static void load_constant(struct drawn *d)
{
    strbuf_append(d->out, "    mov.u64 %z1, table;\n");
    address_by_value(d, "%z1", 32, 8);
    strbuf_printf(d->out,
                  "    ld.const.b32 %%w%u, [%%z0+4];\n    ld.const.b64 %%d%u, [table+%u];\n",
                  drawn_below(d, 8), drawn_below(d, 8), 8 * drawn_below(d, 32));
}

static void use_stack(struct drawn *d)
{
    strbuf_printf(d->out,
                  "    and.b32 %%x0, %%w%u, 15;\n    mov.u32 %%x1, stack;\n    mad.lo.u32 %%x0, "
                  "%%x0, 4, %%x1;\n"
                  "    st.local.b32 [%%x0], %%w%u;\n    and.b32 %%x0, %%w%u, 7;\n    mad.lo.u32 "
                  "%%x0, %%x0, 8, %%x1;\n"
                  "    ld.local.b64 %%d%u, [%%x0];\n",
                  drawn_below(d, 8), drawn_below(d, 8), drawn_below(d, 8), drawn_below(d, 8));
}

/* Nobody reads these before the kernel has ended; each word has one operation, which commutes. */
static void add_to_totals(struct drawn *d)
{
    static const char *const operations[] = {
        "red.global.add.u32",  "red.global.min.s32",  "red.global.max.u32",
        "red.global.and.b32",  "red.global.or.b32",   "red.relaxed.gpu.global.xor.b32",
        "atom.global.add.u64", "atom.global.max.s64", "atom.global.min.u64",
        "red.global.xor.b64",  "atom.global.max.s32", "red.add.u32",
        "red.global.inc.u32",  "red.global.add.u64",
    };
    uint32_t i = drawn_below(d, sizeof operations / sizeof *operations);
    bool wide = strstr(operations[i], "64") != NULL;
    address_by_value(d, "%totals", 4, 8);
    strbuf_append(d->out, "    ");
    if (drawn_below(d, 3) == 0) {
        strbuf_printf(d->out, "@%%p%u ", drawn_below(d, 4));
    }
    strbuf_append(d->out, operations[i]);
    strbuf_append(d->out, operations[i][0] == 'r' ? " " : wide ? " %z1, " : " %x1, ");
    strbuf_printf(d->out, "[%%z0+%u], ", 32 * i);
    if (strstr(operations[i], ".inc")) {
        strbuf_append(d->out, "1000;\n"); /* one bound for all: the count alone decides */
    } else {
        strbuf_printf(d->out, "%%%c%u;\n", wide ? 'd' : 'w', drawn_below(d, 8));
    }
}

static void fetch(struct drawn *d)
{
    uint32_t first = drawn_below(d, 8), kind = drawn_below(d, 3);
    uint32_t x = drawn_below(d, 8), y = drawn_below(d, 8);
    strbuf_printf(d->out, "    and.b32 %%x0, %%w%u, 511;\n    and.b32 %%x1, %%w%u, 511;\n", x, y);
    if (kind == 0) {
        strbuf_printf(d->out,
                      "    sub.s32 %%x0, %%x0, 248;\n    shr.u32 %%x1, %%x1, 5;\n"
                      "    tex.2d.v4.u32.s32 {%%w%u, %%w%u, %%w%u, %%w%u}, [%%ti, {%%x0, %%x1}];\n",
                      first, (first + 1) % 8, (first + 2) % 8, (first + 3) % 8);
        return;
    }
    strbuf_printf(d->out,
                  "    sub.s32 %%x0, %%x0, 128;\n    cvt.rn.f32.s32 %%f%u, %%x0;\n    mul.rn.f32 "
                  "%%f%u, %%f%u, 0f3D800000;\n"
                  "    cvt.rn.f32.s32 %%f%u, %%x1;\n    mul.rn.f32 %%f%u, %%f%u, 0f3CA3D70A;\n",
                  first, first, first, (first + 1) % 8, (first + 1) % 8, (first + 1) % 8);
    strbuf_printf(d->out,
                  "    %s.v4.f32.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, [%%tf, {%%f%u, %%f%u}];\n",
                  kind == 1 ? "tex.2d" : "tld4.r.2d", first, (first + 1) % 8, (first + 2) % 8,
                  (first + 3) % 8, first, (first + 1) % 8);
}

void drawn_memory(struct drawn *d)
{
    static void (*const kinds[])(struct drawn *) = {
        load, load, load_vector, load_constant, use_stack, add_to_totals, fetch};
    kinds[drawn_below(d, sizeof kinds / sizeof *kinds)](d);
}

/* Each thread writes a place of its own, and reads one of anybody's behind a barrier. */
static void turn(struct drawn *d)
{
    bool wide = drawn_below(d, 2);
    const char *type = wide ? "b64" : "b32";
    char class = wide ? 'd' : 'w';
    strbuf_printf(
        d->out,
        "    mov.u32 %%x1, slots;\n    mad.lo.u32 %%x0, %%t2, %u, %u;\n    rem.u32 %%x0, %%x0, "
        "%%t1;\n"
        "    mad.lo.u32 %%x0, %%x0, 8, %%x1;\n    st.shared.%s [%%x0], %%%c%u;\n    bar.sync %u;\n",
        1u, drawn_below(d, 64), type, class, drawn_below(d, 8), drawn_below(d, 16));
    strbuf_printf(d->out,
                  "    rem.u32 %%x0, %%w%u, %%t1;\n    mad.lo.u32 %%x0, %%x0, 8, %%x1;\n    "
                  "ld.shared.%s %%%c%u, [%%x0];\n"
                  "    bar.sync %u, %%t1;\n",
                  drawn_below(d, 8), type, class, drawn_below(d, 8), drawn_below(d, 16));
}

static void sum(struct drawn *d)
{
    static const char *const operations[] = {"add.u32", "min.s32", "max.u32",
                                             "and.b32", "or.b32",  "xor.b32"};
    const char *operation = operations[drawn_below(d, 6)];
    strbuf_printf(
        d->out,
        "    mov.u32 %%x1, sums;\n    and.b32 %%x0, %%t2, 7;\n    mad.lo.u32 %%x0, %%x0, 4, %%x1;\n"
        "    setp.lt.u32 %%q0, %%t2, 8;\n    @%%q0 st.shared.b32 [%%x0], %u;\n    bar.sync 0;\n",
        (uint32_t)rng_u64(&d->rng));
    bool result = drawn_below(d, 2);
    strbuf_printf(d->out,
                  "    and.b32 %%x0, %%w%u, 7;\n    mad.lo.u32 %%x0, %%x0, 4, %%x1;\n    @%%p%u "
                  "%s.shared.%s %s[%%x0], %%w%u;\n",
                  drawn_below(d, 8), drawn_below(d, 4), result ? "atom" : "red", operation,
                  result ? "%x2, " : "", drawn_below(d, 8));
    strbuf_printf(
        d->out,
        "    bar.sync 0;\n    and.b32 %%x0, %%w%u, 7;\n    mad.lo.u32 %%x0, %%x0, 4, %%x1;\n"
        "    ld.shared.b32 %%w%u, [%%x0];\n    bar.sync 0;\n",
        drawn_below(d, 8), drawn_below(d, 8));
}

static void vote(struct drawn *d)
{
    if (drawn_below(d, 2)) {
        strbuf_printf(d->out, "    bar.red.popc.u32 %%w%u, %u, %%p%u;\n", drawn_below(d, 8),
                      drawn_below(d, 16), drawn_below(d, 4));
    } else {
        strbuf_printf(d->out, "    bar.red.%s.pred %%p%u, %u, %%p%u;\n",
                      drawn_below(d, 2) ? "and" : "or", drawn_below(d, 4), drawn_below(d, 16),
                      drawn_below(d, 4));
    }
}

void drawn_exchange(struct drawn *d)
{
    static void (*const kinds[])(struct drawn *) = {turn, sum, vote};
    kinds[drawn_below(d, 3)](d);
}
