/* Modules: registers, control flow, functions. Registers of a class are few, so that values meet.
 */
#include "drawn/drawn.h"

#include <string.h>

uint32_t drawn_below(struct drawn *d, uint32_t bound)
{
    return (uint32_t)rng_below(&d->rng, bound);
}

static void block(struct drawn *d, uint32_t statements);

static void branch(struct drawn *d)
{
    uint32_t label = d->labels++, uniform = d->together && drawn_below(d, 3) == 0;
    bool together = d->together;
    if (uniform) {
        strbuf_printf(d->out,
                      "    mov.u32 %%x0, %%ctaid.x;\n    and.b32 %%x0, %%x0, 1;\n    setp.eq.u32 "
                      "%%q0, %%x0, %u;\n",
                      drawn_below(d, 2));
    } else {
        strbuf_printf(d->out, "    setp.lt.s32 %%q0, %%w%u, %%w%u;\n", drawn_below(d, 8),
                      drawn_below(d, 8));
    }
    d->together = uniform;
    strbuf_printf(d->out, "    @!%%q0 bra%s ELSE%u;\n", uniform ? ".uni" : "", label);
    block(d, 1 + drawn_below(d, 4));
    strbuf_printf(d->out, "    bra%s END%u;\nELSE%u:\n", uniform ? ".uni" : "", label, label);
    block(d, drawn_below(d, 4));
    strbuf_printf(d->out, "END%u:\n", label);
    d->together = together;
}

/* As many turns in all threads, or of each thread's own number; some are left from within. */
static void loop(struct drawn *d)
{
    uint32_t label = d->labels++, level = d->depth, kind = drawn_below(d, 3);
    bool together = d->together;
    if (kind == 0) {
        strbuf_printf(d->out, "    mov.u32 %%b%u, %u;\n", level, 1 + drawn_below(d, 4));
    } else {
        strbuf_printf(d->out, "    and.b32 %%b%u, %%w%u, 3;\n    add.u32 %%b%u, %%b%u, 1;\n", level,
                      drawn_below(d, 8), level, level);
    }
    d->together = together && kind == 0;
    strbuf_printf(d->out, "    mov.u32 %%c%u, 0;\n%sLOOP%u:\n", level,
                  drawn_below(d, 3) == 0 ? "    .pragma \"nounroll\";\n" : "", label);
    block(d, 1 + drawn_below(d, 3));
    if (kind == 2) {
        strbuf_printf(d->out, "    @%%p%u bra OUT%u;\n", drawn_below(d, 4), label);
        block(d, 1 + drawn_below(d, 2));
    }
    strbuf_printf(d->out,
                  "    xor.b32 %%w%u, %%w%u, %%c%u;\n    add.u32 %%c%u, %%c%u, 1;\n"
                  "    setp.lt.u32 %%q0, %%c%u, %%b%u;\n    @%%q0 bra LOOP%u;\nOUT%u:\n",
                  drawn_below(d, 8), drawn_below(d, 8), level, level, level, level, level, label,
                  label);
    d->together = together;
}

static void choice(struct drawn *d)
{
    uint32_t label = d->labels++;
    bool together = d->together;
    strbuf_printf(d->out,
                  "    and.b32 %%x0, %%w%u, 3;\nLIST%u: .branchtargets CASE%u_0, CASE%u_1, "
                  "CASE%u_2, JOIN%u;\n"
                  "    brx.idx %%x0, LIST%u;\n",
                  drawn_below(d, 8), label, label, label, label, label, label);
    d->together = false;
    for (uint32_t i = 0; i < 3; i++) {
        strbuf_printf(d->out, "CASE%u_%u:\n", label, i);
        block(d, 1 + drawn_below(d, 2));
        if (i == 2 || drawn_below(d, 3) > 0) { /* the others fall into the next */
            strbuf_printf(d->out, "    bra JOIN%u;\n", label);
        }
    }
    strbuf_printf(d->out, "JOIN%u:\n", label);
    d->together = together;
}

static void call(struct drawn *d)
{
    strbuf_printf(
        d->out,
        "    {\n    .param .b32 a;\n    .param .f32 b;\n    .param .b64 r;\n"
        "    st.param.b32 [a], %%w%u;\n    st.param.f32 [b], %%f%u;\n    call (r), f%u, (a, b);\n"
        "    ld.param.b64 %%d%u, [r];\n    }\n",
        drawn_below(d, 8), drawn_below(d, 8), drawn_below(d, 2), drawn_below(d, 8));
}

static void statement(struct drawn *d)
{
    uint32_t kind = drawn_below(d, 24);
    bool deep = d->depth >= 3;
    if (kind < 3 && !deep) {
        d->depth++;
        (kind == 0 ? branch : kind == 1 ? loop : choice)(d);
        d->depth--;
    } else if (kind == 3 && !d->in_function) {
        call(d);
    } else if (kind < 8 && !d->in_function) {
        drawn_memory(d);
    } else if (kind < 11 && d->together) {
        drawn_exchange(d);
    } else {
        drawn_form(d);
    }
}

static void block(struct drawn *d, uint32_t statements)
{
    for (uint32_t i = 0; i < statements; i++) {
        statement(d);
    }
}

/* Registers of all classes, with values that follow from %a and %b. */
static void registers(struct drawn *d)
{
    strbuf_append(d->out,
                  "    .reg .b16 %h<4>;\n    .reg .b32 %w<8>, %x<12>, %c<4>, %b<4>;\n"
                  "    .reg .b64 %d<8>, %z<4>;\n    .reg .f32 %f<8>;\n    .reg .f64 %e<4>;\n"
                  "    .reg .pred %p<4>, %q0;\n"
                  "    .reg .b32 %yw<8>;\n    .reg .f32 %yf<8>;\n    .reg .f64 %ye<8>;\n");
}

static void fill_registers(struct drawn *d)
{
    for (uint32_t i = 0; i < 8; i++) {
        strbuf_printf(d->out, "    mad.lo.u32 %%w%u, %%a, %u, %u;\n", i,
                      (uint32_t)rng_u64(&d->rng) | 1,
                      (uint32_t)rng_u64(&d->rng) >> drawn_below(d, 32));
        if (i < 3) { /* no two alike: of like operands an assembler may know the result */
            strbuf_printf(d->out, "    mul.rn.f32 %%f%u, %%b, 0f3F%X00000;\n", i, 8 + 2 * i);
        } else {
            strbuf_printf(d->out, "    cvt.rn.f32.s32 %%f%u, %%w%u;\n", i, i);
        }
        strbuf_printf(d->out, "    mul.wide.u32 %%d%u, %%w%u, %u;\n", i, i,
                      (uint32_t)rng_u64(&d->rng));
    }
    for (uint32_t i = 0; i < 4; i++) {
        strbuf_printf(d->out,
                      "    cvt.u16.u32 %%h%u, %%w%u;\n    cvt.rn.f64.s32 %%e%u, %%w%u;\n"
                      "    setp.gt.s32 %%p%u, %%w%u, 0;\n",
                      i, i, i, i + 4, i, i);
    }
}

static void function(struct drawn *d, uint32_t number)
{
    strbuf_printf(d->out, "\n.func (.param .b64 r) f%u(.param .b32 pa, .param .f32 pb)\n{\n",
                  number);
    strbuf_append(d->out, "    .reg .b32 %a;\n    .reg .f32 %b;\n");
    registers(d);
    strbuf_append(d->out, "    ld.param.b32 %a, [pa];\n    ld.param.f32 %b, [pb];\n");
    fill_registers(d);
    d->in_function = true;
    d->depth = 2;
    block(d, 3 + drawn_below(d, 4));
    strbuf_append(
        d->out, "    mov.b32 %x0, %f0;\n    mov.b64 %z0, {%x0, %w0};\n    xor.b64 %z0, %z0, %d0;\n"
                "    st.param.b64 [r], %z0;\n    ret;\n}\n");
    d->in_function = false;
    d->depth = 0;
}

static void begin_kernel(struct drawn *d, const struct drawn_size *size)
{
    strbuf_printf(d->out,
                  "\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 scratch, "
                  ".param .u64 totals,\n"
                  "    .param .u64 filtered, .param .u64 texels)\n.reqntid %u\n{\n",
                  size->block);
    strbuf_printf(d->out,
                  "    .shared .align 8 .b8 own[%d];\n    .shared .align 8 .b8 slots[%d];\n"
                  "    .shared .align 8 .b8 sums[64];\n    .local .align 8 .b8 stack[64];\n",
                  DRAWN_MOST_THREADS * FORM_SCRATCH_BYTES, DRAWN_MOST_THREADS * 8);
    registers(d);
    strbuf_append(
        d->out, "    .reg .b32 %a, %t<4>, %s;\n    .reg .f32 %b;\n"
                "    .reg .b64 %in, %out, %g, %u, %totals, %tf, %ti;\n"
                "    mov.u32 %t0, %ctaid.x;\n    mov.u32 %t1, %ntid.x;\n    mov.u32 %t2, %tid.x;\n"
                "    mad.lo.u32 %t3, %t0, %t1, %t2;\n    ld.param.u64 %in, [in];\n"
                "    ld.param.u64 %out, [out];\n    ld.param.u64 %g, [scratch];\n"
                "    ld.param.u64 %totals, [totals];\n    ld.param.u64 %tf, [filtered];\n"
                "    ld.param.u64 %ti, [texels];\n    mov.u64 %u, %in;\n    mov.u32 %s, own;\n");
    strbuf_printf(d->out,
                  "    mul.wide.u32 %%z0, %%t3, %d;\n    add.u64 %%out, %%out, %%z0;\n"
                  "    mul.wide.u32 %%z0, %%t3, %d;\n    add.u64 %%g, %%g, %%z0;\n"
                  "    mad.lo.u32 %%s, %%t2, %d, %%s;\n    mul.wide.u32 %%z0, %%t3, 4;\n    "
                  "add.u64 %%z0, %%z0, %%in;\n"
                  "    ld.global.b32 %%a, [%%z0];\n    ld.global.f32 %%b, [%%z0+%d];\n",
                  DRAWN_OUT_BYTES, FORM_SCRATCH_BYTES, FORM_SCRATCH_BYTES, DRAWN_IN_WORDS * 2);
    fill_registers(d);
    for (uint32_t i = 0; i < 8; i++) {
        strbuf_printf(d->out, "    st.local.b64 [stack+%u], %%d%u;\n", 8 * i, i);
    }
}

/*
 * Which of a NaN's bits and sign are left depends on the order of operands, and on whether an
 * assembler knows a result: NaNs are written as one.
 */
static void one_nan(struct drawn *d)
{
    for (uint32_t i = 0; i < 8; i++) {
        strbuf_printf(d->out,
                      "    testp.notanumber.f32 %%q0, %%f%u;\n"
                      "    selp.f32 %%f%u, 0f7FFFFFFF, %%f%u, %%q0;\n",
                      i, i, i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        strbuf_printf(
            d->out,
            "    setp.nan.f16 %%q0, %%h%u, %%h%u;\n    selp.b16 %%h%u, 0x7fff, %%h%u, %%q0;\n"
            "    testp.notanumber.f64 %%q0, %%e%u;\n"
            "    selp.f64 %%e%u, 0d7FF8000000000000, %%e%u, %%q0;\n",
            i, i, i, i, i, i, i);
    }
}

static void end_kernel(struct drawn *d)
{
    one_nan(d);
    for (uint32_t i = 0; i < 8; i++) {
        strbuf_printf(d->out,
                      "    st.global.b32 [%%out+%u], %%w%u;\n    st.global.f32 [%%out+%u], %%f%u;\n"
                      "    st.global.b64 [%%out+%u], %%d%u;\n",
                      4 * i, i, 32 + 4 * i, i, 64 + 8 * i, i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        strbuf_printf(d->out,
                      "    selp.b32 %%x0, 1, 2, %%p%u;\n    st.global.b32 [%%out+%u], %%x0;\n"
                      "    st.global.b16 [%%out+%u], %%h%u;\n",
                      i, 128 + 4 * i, 144 + 2 * i, i);
    }
    strbuf_append(d->out, "    @%p3 exit;\n");
    for (uint32_t i = 0; i < 4; i++) {
        strbuf_printf(d->out, "    st.global.f64 [%%out+%u], %%e%u;\n", 160 + 8 * i, i);
    }
    strbuf_append(d->out, "    ret;\n}\n");
}

struct drawn_size drawn_module(struct strbuf *out, const struct drawn_forms *forms, uint64_t seed,
                               uint32_t most_statements)
{
    struct drawn d = {.out = out, .forms = forms};
    rng_seed(&d.rng, seed);
    struct drawn_size size = {.grid = 1 + drawn_below(&d, 5),
                              .block = 32 * (1 + drawn_below(&d, 4))};
    form_module_head(out, false);
    strbuf_append(out, ".const .align 8 .b32 table[64] = {");
    for (uint32_t i = 0; i < 64; i++) {
        strbuf_printf(out, "%s%u", i ? ", " : "", (uint32_t)rng_u64(&d.rng) >> drawn_below(&d, 32));
    }
    strbuf_append(out, "};\n");
    function(&d, 0);
    function(&d, 1);
    begin_kernel(&d, &size);
    d.together = true;
    uint32_t statements = 8 + drawn_below(&d, 16);
    block(&d, statements < most_statements ? statements : most_statements);
    end_kernel(&d);
    return size;
}
