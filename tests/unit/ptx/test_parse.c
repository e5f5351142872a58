/* What the parser makes of a text: the IR's fields, one thing at a time; and its diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ir.h"
#include "ptx/print/print.h"
#include "util/error.h"
#include "util/container/strbuf.h"

#define HEADER ".version 8.0\n.target sm_75\n.address_size 64\n"

static struct ptx_module *parse(const char *text)
{
    struct ptx_module *module = NULL;
    struct strbuf all = {0};
    strbuf_append(&all, HEADER);
    strbuf_append(&all, text);
    if (ptx_parse(&module, "t.ptx", strbuf_text(&all), all.length) < 0)
        fail_msg("%s", error_text());
    strbuf_free(&all);
    return module;
}

/* Parses the statements in a kernel with registers of every kind. */
static struct ptx_module *parse_body(const char *body)
{
    struct strbuf text = {0};
    strbuf_append(&text,
                  ".global .align 8 .b8 table[64];\n.entry k(.param .u64 p, .param .b8 q[12])\n{\n"
                  ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<64>; .reg .b64 %rd<16>;\n"
                  ".reg .f32 %f<8>; .reg .f64 %fd<8>;\n");
    strbuf_append(&text, body);
    strbuf_append(&text, "\nret;\n}\n");
    struct ptx_module *module = parse(strbuf_text(&text));
    strbuf_free(&text);
    return module;
}

static int code_of(const char *text)
{
    struct ptx_module *module;
    int code = ptx_parse(&module, "t.ptx", text, strlen(text));
    if (code == 0)
        ptx_module_destroy(module);
    return code;
}

static int count_lines(const char *text)
{
    int lines = 1;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static void the_header_is_kept(void **state)
{
    (void)state;
    struct ptx_module *m = parse("");
    assert_int_equal(m->version_major, 8);
    assert_int_equal(m->version_minor, 0);
    assert_int_equal(m->target_sm, 75);
    assert_int_equal(m->address_size, 64);
    assert_string_equal(m->file, "t.ptx");
    ptx_module_destroy(m);
}

static void parameters_are_laid_out_by_their_alignment(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(".entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c,\n"
              ".param .align 16 .b8 d[20]) .maxntid 64, 2 .minnctapersm 3 { ret; }");
    const struct ptx_func *f = ptx_find_func(m, "k");
    assert_true(f->is_entry && f->has_body);
    assert_int_equal(f->param_count, 4);
    assert_int_equal(f->params[1].offset, 8);
    assert_int_equal(f->params[1].ptr_space, SPACE_GLOBAL);
    assert_int_equal(f->params[1].ptr_align, 16);
    assert_int_equal(f->params[2].offset, 16);
    assert_int_equal(f->params[3].offset, 32);
    assert_int_equal(f->params[3].size, 20);
    assert_int_equal(f->param_bytes, 52);
    assert_int_equal(f->maxntid[0] * f->maxntid[1] * f->maxntid[2], 128);
    assert_int_equal(f->minnctapersm, 3);
    ptx_module_destroy(m);
}

static void initialisers_become_bytes_and_relocations(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(".const .s16 a[2][3] = {{1, -2}, {0x7fff}};\n"
              ".global .f32 f = 0f3F800000;\n.global .f64 d[] = {1.5, 0f40000000};\n"
              ".global .u64 p[3] = {a, generic(f) + 4, 7};\n");
    static const int16_t expected[6] = {1, -2, 0, 0x7fff, 0, 0};
    static const double doubles[2] = {1.5, 2.0};
    const struct ptx_var *a = ptx_find_var(m, "a"), *d = ptx_find_var(m, "d"),
                         *p = ptx_find_var(m, "p");
    assert_int_equal(a->space, SPACE_CONST);
    assert_int_equal(a->size, sizeof expected);
    assert_memory_equal(a->init, expected, sizeof expected);
    assert_false(d->unsized);
    assert_int_equal(d->size, 16);
    assert_memory_equal(d->init, doubles, sizeof doubles);
    assert_int_equal(p->reloc_count, 2);
    assert_ptr_equal(p->relocs[0].var, a);
    assert_false(p->relocs[0].generic);
    assert_int_equal(p->relocs[1].offset, 8);
    assert_int_equal(p->relocs[1].addend, 4);
    assert_true(p->relocs[1].generic);
    assert_int_equal(p->init[16], 7);
    ptx_module_destroy(m);
}

static void printed_initialisers_end_with_their_last_element_that_is_not_zero(void **state)
{
    (void)state;
    static const struct {
        const char *declared, *printed;
    } cases[] = {
        {"a[4] = {1, 0, 2, 0}", "a[4] = {1, 0, 2};"},
        {"a[4] = {1, 0, 0, 2}", "= {1, 0, 0, 2};"},
        {"a[4] = {0, 7}", "= {0, 7};"},
        {"a[2] = {7, 0}", "= {7};"},
        {"a[3] = {0, 0, 0}", "= {0};"},
        {"a = 7", "a = 7;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf text = {0}, printed = {0};
        strbuf_printf(&text, ".global .u32 %s;\n", cases[i].declared);
        struct ptx_module *module = parse(strbuf_text(&text));
        assert_int_equal(ptx_print(&printed, module), 0);
        if (strstr(strbuf_text(&printed), cases[i].printed) == NULL)
            fail_msg("'%s' is not in:\n%s", cases[i].printed, strbuf_text(&printed));
        ptx_module_destroy(module);
        strbuf_free(&text);
        strbuf_free(&printed);
    }
}

static void vector_registers_of_a_range_are_all_their_elements(void **state)
{
    (void)state;
    struct ptx_module *module = parse_body(".reg .v4 .b32 %v<3>; .reg .b32 %w;\n"
                                           "mov.b32 %w, 1; mov.v4.b32 %v2, {%w, %w, %w, %w};\n"
                                           "st.global.v4.b32 [%rd0], %v2; mov.b32 %w, %v2.z;");
    const struct ptx_func *f = module->funcs[0];
    const struct ptx_operand *whole = &f->insns[2].operands[1];
    assert_int_equal(whole->kind, OPERAND_VECTOR);
    assert_int_equal(whole->count, 4);
    assert_string_equal(f->regs[whole->elems[0].reg].name, "%v2.x");
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(whole->elems[i].reg, whole->elems[0].reg + (int32_t)i);
    assert_int_equal(f->insns[3].operands[1].reg, whole->elems[2].reg);
    ptx_module_destroy(module);
}

static void constant_expressions_follow_c(void **state)
{
    (void)state;
    struct ptx_module *m = parse(".global .s64 x[] = {1 + 2 * 3, (1 + 2) * 3, 7 - 2 - 1, 1 << 2 + "
                                 "1, -7 / 2, -7 % 3, ~5 & 0xff, 1 | 2 ^ 3,\n"
                                 "3 > 2 && 2 > 3 || 1, !4, 1 ? 2 : 3, 0 ? 2 : 0 ? 3 : 4, (.u64)-1 "
                                 ">> 60, -1 >> 60, 0b101, 017, WARP_SZ, 1 << 64,\n"
                                 "2 < 1 + 2, 5 == 5 != 0};");
    static const int64_t expected[] = {7, 9, 4,  8,  -3, -1, 0xfa, 1, 1, 0,
                                       2, 4, 15, -1, 5,  15, 32,   0, 1, 1};
    const struct ptx_var *x = ptx_find_var(m, "x");
    assert_int_equal(x->size, sizeof expected);
    assert_memory_equal(x->init, expected, sizeof expected);
    ptx_module_destroy(m);
}

static void constant_expressions_of_floats_follow_c(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(".global .f64 x[] = {1.5 + 2.25, 1.5 - 2.25, 1.5 * 2.5, 7.0 / 2.0, "
              "-1.5 * 2.0, 1.5 + 2.0 * 3.0, (1.5 + 2.0) * 3.0};");
    static const double expected[] = {3.75, -0.75, 3.75, 3.5, -3, 7.5, 10.5};
    const struct ptx_var *x = ptx_find_var(m, "x");
    assert_int_equal(x->size, sizeof expected);
    assert_memory_equal(x->init, expected, sizeof expected);
    ptx_module_destroy(m);
}

static void modifiers_types_and_operands_are_resolved(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_body("@!%p1 ld.global.nc.L2::128B.v4.f32 {%f0, _, %r1, %f3}, [%rd1+-16];");
    const struct ptx_insn *insn = &m->funcs[0]->insns[0];
    assert_int_equal(insn->op, OP_LD_NC);
    assert_int_equal(insn->space[0], SPACE_GLOBAL);
    assert_int_equal(insn->mods[MODC_NC], MOD_NC_nc);
    assert_int_equal(insn->mods[MODC_PREFETCH], MOD_PREFETCH_128B);
    assert_int_equal(insn->vec, 4);
    assert_int_equal(insn->types[0], TYPE_f32);
    assert_true(insn->guard >= 0 && insn->guard_negate);
    assert_int_equal(insn->operands[0].kind, OPERAND_VECTOR);
    assert_int_equal(insn->operands[0].elems[1].kind, OPERAND_SINK);
    assert_int_equal(insn->operands[0].elems[2].type, TYPE_b32);
    assert_int_equal(insn->operands[1].kind, OPERAND_ADDR);
    assert_true(insn->operands[1].has_reg);
    assert_int_equal((int64_t)insn->operands[1].imm, -16);
    ptx_module_destroy(m);
}

static void modifiers_may_stand_in_another_order(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body(
        "ld.global.volatile.u32 %r1, [%rd1];\nld.gpu.relaxed.global.u32 %r1, [%rd1];\n"
        "atom.add.release.gpu.u32 %r1, [%rd1], 1;\natom.global.sys.cas.b32 %r1, [%rd1], 0, 1;");
    const struct ptx_insn *insns = m->funcs[0]->insns;
    assert_int_equal(insns[0].mods[MODC_SEM], MOD_SEM_volatile);
    assert_int_equal(insns[1].mods[MODC_SCOPE], MOD_SCOPE_gpu);
    assert_int_equal(insns[2].mods[MODC_SEM], MOD_SEM_release);
    assert_int_equal(insns[3].op, OP_ATOM_CAS);
    ptx_module_destroy(m);
}

static void constants_take_the_type_of_the_instruction(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_body("mov.f32 %f1, 0d3FF0000000000000;\nmov.f64 %fd1, 0f3F800000;\n"
                   "mov.b32 %r1, 0f3F800000;\nadd.s16 %h1, %h2, -1;\nadd.s64 %rd1, %rd2, -1;\n"
                   "mov.pred %p1, 7;");
    const struct ptx_insn *insns = m->funcs[0]->insns;
    assert_int_equal(insns[0].operands[1].imm, 0x3f800000);
    assert_true(insns[1].operands[1].imm == UINT64_C(0x3ff0000000000000));
    assert_int_equal(insns[2].operands[1].imm, 0x3f800000);
    assert_int_equal(insns[3].operands[2].imm, 0xffff);
    assert_true(insns[4].operands[2].imm == UINT64_MAX);
    assert_int_equal(insns[5].operands[1].imm, 1);
    ptx_module_destroy(m);
}

static void nested_scopes_hide_names_and_keep_labels_apart(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_body("mov.u32 %r1, 1;\n{ .reg .b32 %r1; L: mov.u32 %r1, 2; bra L; }\n"
                   "{ L: mov.u32 %r1, 3; bra L; }");
    const struct ptx_func *f = m->funcs[0];
    assert_int_not_equal(f->insns[0].operands[0].reg, f->insns[1].operands[0].reg);
    assert_int_equal(f->insns[0].operands[0].reg, f->insns[3].operands[0].reg);
    assert_int_equal(f->insns[2].operands[0].target, 1);
    assert_int_equal(f->insns[4].operands[0].target, 3);
    ptx_module_destroy(m);
}

static void vector_registers_are_their_elements(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body(".reg .v4 .f32 v;\n.reg .v2 .b32 w<3>;\nmov.f32 v.y, v.w;\n"
                                      "st.global.v4.f32 [%rd1], v;\nmov.b32 w2.x, w1.y;");
    const struct ptx_func *f = m->funcs[0];
    int32_t y = f->insns[0].operands[0].reg;
    assert_int_equal(f->insns[0].operands[1].reg, y + 2);
    assert_int_equal(f->insns[1].operands[1].elems[1].reg, y);
    assert_string_equal(f->regs[f->insns[2].operands[0].reg].name, "w2.x");
    ptx_module_destroy(m);
}

static void calls_keep_callee_returns_and_arguments_apart(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(".func (.param .b32 r) f(.param .b64 a, .param .b32 b) { ret; }\n.entry k() {\n"
              ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
              "{ .param .b64 x; .param .b32 y; .param .b32 z;\ncall.uni (z), f, (x, y); }\n"
              "P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);\n"
              "mov.u64 %rd1, f;\ncall (%r1), %rd1, (%rd2, 5), P;\nret; }");
    const struct ptx_func *k = ptx_find_func(m, "k");
    const struct ptx_insn *call = &k->insns[0], *indirect = &k->insns[2];
    assert_ptr_equal(call->operands[0].func, ptx_find_func(m, "f"));
    assert_int_equal(call->operands[1].count, 1);
    assert_int_equal(call->operands[2].count, 2);
    assert_string_equal(call->operands[2].elems[0].var->name, "x");
    assert_int_equal(k->call_param_bytes, 16);
    assert_int_equal(indirect->operand_count, 4);
    assert_int_equal(indirect->operands[0].kind, OPERAND_REG);
    assert_int_equal(indirect->operands[2].elems[1].imm, 5);
    assert_int_equal(indirect->operands[3].kind, OPERAND_PROTO);
    ptx_module_destroy(m);
}

static void a_function_that_runs_off_its_end_returns(void **state)
{
    (void)state;
    struct ptx_module *m = parse(
        ".entry a() { }\n.entry b() { .reg .pred p; L: @p bra L; }\n.entry c() { L: bra L; }");
    assert_int_equal(m->funcs[0]->insns[0].op, OP_RET);
    assert_int_equal(m->funcs[1]->insn_count, 2);
    assert_int_equal(m->funcs[2]->insn_count, 1);
    ptx_module_destroy(m);
}

static void frames_of_local_and_shared_variables_are_laid_out(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(".shared .b8 outer[100];\n.entry k() { .local .b8 a[3]; .local .align 8 .b8 b[8];\n"
              ".shared .u32 s[4]; .shared .b8 t; ret; }");
    const struct ptx_func *f = m->funcs[0];
    assert_int_equal(f->local_bytes, 16);
    assert_int_equal(f->shared_bytes, 17);
    assert_int_equal(f->locals[1]->offset, 8);
    assert_ptr_equal(f->locals[1]->owner, f);
    ptx_module_destroy(m);
}

static void an_extern_declaration_and_its_definition_are_one_variable(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(".extern .global .u32 x;\n.entry k() { .reg .b64 a; mov.u64 a, x; ret; }\n"
              ".visible .global .u32 x = 5;");
    assert_int_equal(m->var_count, 1);
    assert_int_equal(m->vars[0]->linkage, LINK_VISIBLE);
    assert_ptr_equal(m->funcs[0]->insns[0].operands[1].var, m->vars[0]);
    ptx_module_destroy(m);
}

static void line_ends_of_windows_and_padding_with_nuls_are_fine(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\r\n.target sm_75\r\n.address_size 64\r\n.entry "
                               "k()\r\n{\r\nret;\r\n}\r\n\0\0\0";
    struct ptx_module *m;
    assert_int_equal(ptx_parse(&m, "t.ptx", text, sizeof text), 0);
    ptx_module_destroy(m);
}

static void a_nul_byte_inside_is_refused(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_75\n\0.address_size 64\n";
    struct ptx_module *m;
    assert_int_equal(ptx_parse(&m, "t.ptx", text, sizeof text), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "t.ptx:3:1: error: got '': a NUL byte"));
}

static void an_empty_text_is_refused(void **state)
{
    (void)state;
    assert_int_equal(code_of(""), SONDE_EINPUT);
    assert_string_equal(
        error_text(),
        "t.ptx:1:1: error: the text ends here, expected .version at the start of the module");
}

static void several_mistakes_are_reported_in_one_run(void **state)
{
    (void)state;
    assert_int_equal(
        code_of(
            HEADER
            ".entry k()\n{\n.reg .b32 %r<4>;\nadd.s32 %r9, %r1, 1;\nadd.s32 %r1, {%r9, %r2}, 1;\n"
            "mov.u32 %r1, 1;\nbra nowhere;\n}\n.global .u32 x = y;\n"),
        SONDE_EINPUT);
    assert_int_equal(count_lines(error_text()), 4);
    assert_non_null(strstr(error_text(), "t.ptx:7:9: error: '%r9' is not declared"));
    assert_non_null(strstr(error_text(), "t.ptx:8:15: error: '%r9' is not declared"));
    assert_non_null(strstr(error_text(), "t.ptx:10:5: error: label 'nowhere'"));
    assert_non_null(strstr(error_text(), "t.ptx:12:18: error: got 'y'"));
}

static void reporting_ends_after_twenty_mistakes(void **state)
{
    (void)state;
    struct strbuf text = {0};
    strbuf_append(&text, HEADER ".entry k()\n{\n");
    for (int i = 0; i < 1000; i++)
        strbuf_append(&text, "x.u32 y;\n");
    strbuf_append(&text, "}\n");
    assert_int_equal(code_of(strbuf_text(&text)), SONDE_EINPUT);
    assert_int_equal(count_lines(error_text()), 21);
    assert_non_null(strstr(error_text(), "too many errors"));
    strbuf_free(&text);
}

static void what_has_no_row_yet_is_unsupported_by_name(void **state)
{
    (void)state;
    static const char *const forms[] = {"tcgen05.fence::before_thread_sync", "multimem.red.add.u32",
                                        "fma.rn.f32x2", "add.rn.f32x2"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct strbuf text = {0};
        strbuf_printf(&text, HEADER ".entry k()\n{\n    %s a, b, c;\n}\n", forms[i]);
        assert_int_equal(code_of(strbuf_text(&text)), SONDE_EUNSUPPORTED);
        strbuf_clear(&text);
        strbuf_printf(&text, "t.ptx:6:5: error: instruction '%s' is not implemented", forms[i]);
        assert_string_equal(error_text(), strbuf_text(&text));
        strbuf_free(&text);
    }
}

static int one_insn(const char *text)
{
    struct strbuf all = {0};
    strbuf_printf(&all, HEADER ".entry k()\n{\n.reg .b32 %%r<8>;\n%s\n}\n", text);
    int code = code_of(strbuf_text(&all));
    strbuf_free(&all);
    return code;
}

static void video_operands_have_selectors_and_signs(void **state)
{
    (void)state;
    static const char *const good[] = {
        "vadd.u32.s32.u32 %r0, %r1.b3, %r2.h1;",
        "vadd.u32.s32.u32.sat %r0.h1, %r1, %r2, %r3;",
        "vadd.s32.s32.s32.max %r0, %r1.b0, %r2, %r3;",
        "vset.s32.u32.gt %r0.b1, %r1.b1, %r2.h1, %r3;",
        "vmad.s32.s32.s32.sat.shr7 %r0, -%r1.b3, %r2.h0, %r3;",
        "vmad.u32.u32.u32.po %r0, %r1, %r2.b1, %r3;",
        "vmad.s32.s32.s32 %r0, -%r1, -%r2, %r3;",
        "vmad.u32.u32.u32.sat %r0, -%r1, -%r2, -%r3;",
        "vmad.u32.u32.u32.po %r0, -%r1, -%r2, %r3;",
        "vadd2.u32.u32.u32 %r0.h0, %r1.h32, %r2.h01, %r3;",
        "vadd4.u32.u32.u32 %r0.b320, %r1.b7654, %r2.b0123, %r3;",
        "vabsdiff4.u32.u32.u32.add %r0, %r1.b3210, %r2, %r3;",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (one_insn(good[i]) != 0)
            fail_msg("%s: %s", good[i], error_text());
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"add.u32 %r0, %r1.b3, %r2;", "'.b3' is for video instructions only"},
        {"vadd.u32.u32.u32 %r0, %r1.h2, %r2;", "this selector is none of 'vadd'"},
        {"vadd.u32.u32.u32 %r0, %r1.b10, %r2;", "this selector is none of 'vadd'"},
        {"vadd.u32.u32.u32.add %r0.b1, %r1, %r2, %r3;", "this selector is none of 'vadd'"},
        {"vadd.u32.u32.u32 %r0.b1, %r1, %r2;", "needs a third operand"},
        {"vadd.u32.u32.u32 %r0, %r1, %r2, %r3;", "where the whole result is written"},
        {"vadd.u32.u32.u32 %r0, -%r1, %r2;", "negates nothing"},
        {"vmad.u32.u32.u32.po %r0, -%r1, %r2, %r3;", "negates nothing"},
        {"vmad.u32.u32.u32.po %r0, -%r1, -%r2, -%r3;", "negates nothing"},
        {"vmad.s32.s32.s32 %r0, -%r1, %r2, -%r3;", "its product or its addend, not both"},
        {"vmad.s32.s32.s32 %r0, %r1, -%r2, -%r3;", "its product or its addend, not both"},
        {"vmad.u32.u32.u32 %r0.b1, %r1, %r2, %r3;", "this selector is none of 'vmad'"},
        {"vadd2.u32.u32.u32 %r0, %r1.h3, %r2, %r3;", "this selector is none of 'vadd2'"},
        {"vadd2.u32.u32.u32 %r0, %r1.b32, %r2, %r3;", "this selector is none of 'vadd2'"},
        {"vadd4.u32.u32.u32 %r0.b012, %r1, %r2, %r3;", "this selector is none of 'vadd4'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(one_insn(bad[i].text), SONDE_EINPUT);
        if (strstr(error_text(), bad[i].message) == NULL)
            fail_msg("%s: %s", bad[i].text, error_text());
    }
}

static void operands_not_implemented_are_unsupported_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}|%p0, [%d0, {%r4}];",
         "a predicate beside a vector is not implemented"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf text = {0};
        strbuf_printf(&text,
                      HEADER
                      ".entry k()\n{\n.reg .b32 %%r<8>; .reg .b64 %%d<2>; .reg .pred %%p<2>;\n"
                      "%s\n}\n",
                      cases[i].text);
        assert_int_equal(code_of(strbuf_text(&text)), SONDE_EUNSUPPORTED);
        assert_non_null(strstr(error_text(), cases[i].message));
        strbuf_free(&text);
    }
}

static void bad_input_outweighs_what_is_unsupported(void **state)
{
    (void)state;
    assert_int_equal(code_of(HEADER ".entry k() { fma.rn.f32x2 a; nonsense; }"), SONDE_EINPUT);
    assert_int_equal(count_lines(error_text()), 2);
}

static void quoted_input_cannot_act_on_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(code_of(".version 8.0\n.target sm_75\n.pragma \"\033[31m"), SONDE_EINPUT);
    assert_null(strchr(error_text(), '\033'));
}

static void hostile_sizes_end_in_a_message(void **state)
{
    (void)state;
    assert_int_equal(code_of(HEADER ".global .u32 x[1000000000][1000000000];"), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "larger than 1 TiB"));
    assert_int_equal(code_of(HEADER ".global .u32 x[4000000000][4] = {{1}};"), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "initialisers of more than 256 MiB"));
    assert_int_equal(code_of(HEADER ".entry k() { .local .b8 a[3000000000]; ret; }"), SONDE_EINPUT);
    assert_int_equal(code_of(HEADER ".global .u32 x[18446744073709551616];"), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "does not fit 64 bits"));
    assert_int_equal(code_of(HEADER ".global .u32 x[-1];"), SONDE_EINPUT);
}

static void deep_nesting_ends_in_a_message(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        char repeat;
    } cases[] = {{".global .u32 x = ", '('},
                 {".global .u32 x = ", '-'},
                 {".entry k() ", '{'},
                 {".global .u32 x[2] = ", '{'}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf text = {0};
        strbuf_append(&text, HEADER);
        strbuf_append(&text, cases[i].before);
        for (int k = 0; k < 100000; k++)
            strbuf_append_char(&text, cases[i].repeat);
        assert_int_equal(code_of(strbuf_text(&text)), SONDE_EINPUT);
        strbuf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_is_kept),
        cmocka_unit_test(parameters_are_laid_out_by_their_alignment),
        cmocka_unit_test(initialisers_become_bytes_and_relocations),
        cmocka_unit_test(printed_initialisers_end_with_their_last_element_that_is_not_zero),
        cmocka_unit_test(vector_registers_of_a_range_are_all_their_elements),
        cmocka_unit_test(constant_expressions_follow_c),
        cmocka_unit_test(constant_expressions_of_floats_follow_c),
        cmocka_unit_test(modifiers_types_and_operands_are_resolved),
        cmocka_unit_test(modifiers_may_stand_in_another_order),
        cmocka_unit_test(constants_take_the_type_of_the_instruction),
        cmocka_unit_test(nested_scopes_hide_names_and_keep_labels_apart),
        cmocka_unit_test(vector_registers_are_their_elements),
        cmocka_unit_test(calls_keep_callee_returns_and_arguments_apart),
        cmocka_unit_test(a_function_that_runs_off_its_end_returns),
        cmocka_unit_test(frames_of_local_and_shared_variables_are_laid_out),
        cmocka_unit_test(an_extern_declaration_and_its_definition_are_one_variable),
        cmocka_unit_test(line_ends_of_windows_and_padding_with_nuls_are_fine),
        cmocka_unit_test(a_nul_byte_inside_is_refused),
        cmocka_unit_test(an_empty_text_is_refused),
        cmocka_unit_test(several_mistakes_are_reported_in_one_run),
        cmocka_unit_test(reporting_ends_after_twenty_mistakes),
        cmocka_unit_test(what_has_no_row_yet_is_unsupported_by_name),
        cmocka_unit_test(video_operands_have_selectors_and_signs),
        cmocka_unit_test(operands_not_implemented_are_unsupported_by_name),
        cmocka_unit_test(bad_input_outweighs_what_is_unsupported),
        cmocka_unit_test(quoted_input_cannot_act_on_a_terminal),
        cmocka_unit_test(hostile_sizes_end_in_a_message),
        cmocka_unit_test(deep_nesting_ends_in_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
