/*
 * Random programs of integer arithmetic, guards, ifs and loops, run by exec with 32 lanes and, from
 * the same tree, by an interpreter that knows one thread and C. What it covers beyond the other
 * tests is the interplay of divergence, register slots and liveness.
 */
#include "support/exec_device.h"
#include "util/rng.h"
#include "util/container/strbuf.h"

#define WORDS 6  /* 32-bit registers %r0.. */
#define DWORDS 4 /* 64-bit registers %l0.. */
#define NODES_MAX 400
#define DEPTH_MAX 4

enum kind { ARITHMETIC, GUARDED, IF, LOOP };

/* d and the sources are register numbers; imm replaces b when use_imm. */
struct node {
    enum kind kind;
    uint32_t op, d, a, b, c, imm;
    bool use_imm;
    uint32_t compare, x, y; /* the condition: %rx ? %ry; a loop's count: %rx & 3 */
    uint32_t first, count;  /* IF, LOOP: children as indices */
    uint32_t other, other_count;
};

struct program {
    struct node node[NODES_MAX];
    uint32_t count;
    struct rng rng;
};

struct thread {
    uint32_t r[WORDS];
    uint64_t l[DWORDS];
};

/* Rows: the instruction with its operands' letters (d a b c; r 32 bits, l 64), and what it does. */
struct row {
    const char *name, *letters;
};
/* clang-format off */
static const struct row rows[] = {
    { "add.s32", "rrr" },    { "sub.s32", "rrr" },      { "mul.lo.s32", "rrr" },
    { "mul.hi.u32", "rrr" }, { "mul.hi.s32", "rrr" },   { "and.b32", "rrr" },
    { "or.b32", "rrr" },     { "xor.b32", "rrr" },      { "shl.b32", "rrr" },
    { "shr.u32", "rrr" },    { "shr.s32", "rrr" },      { "min.s32", "rrr" },
    { "max.u32", "rrr" },    { "div.u32", "rrr" },      { "rem.s32", "rrr" },
    { "mad.lo.s32", "rrrr" }, { "popc.b32", "rr" },     { "clz.b64", "rl" },
    { "add.u64", "lll" },    { "sub.u64", "lll" },      { "mul.lo.u64", "lll" },
    { "xor.b64", "lll" },    { "shr.u64", "llr" },      { "shl.b64", "llr" },
    { "mul.wide.u32", "lrr" }, { "mad.wide.s32", "lrrl" }, { "cvt.u32.u64", "rl" },
    { "cvt.s64.s32", "lr" }, { "cvt.u64.u16", "lr" },   { "cvt.s32.s8", "rr" },
    { "mov.b64", "lp" },
};
/* clang-format on */
#define ROWS (sizeof rows / sizeof *rows)

static uint64_t shift_left(uint64_t v, uint32_t n, uint32_t bits)
{
    return n < bits ? v << n : 0;
}
static uint64_t shift_right(uint64_t v, uint32_t n, uint32_t bits)
{
    return n < bits ? v >> n : 0;
}

static uint32_t word(uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint64_t l)
{
    int32_t sa = (int32_t)a, sb = (int32_t)b;
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return (uint32_t)((uint64_t)a * b >> 32);
    case 4:
        return (uint32_t)((int64_t)sa * sb >> 32);
    case 5:
        return a & b;
    case 6:
        return a | b;
    case 7:
        return a ^ b;
    case 8:
        return (uint32_t)shift_left(a, b, 32);
    case 9:
        return (uint32_t)shift_right(a, b, 32);
    case 10:
        return (uint32_t)(sa >> (b < 31 ? b : 31));
    case 11:
        return sa < sb ? a : b;
    case 12:
        return a > b ? a : b;
    case 13:
        return b ? a / b : UINT32_MAX;
    case 14:
        return b == 0 ? UINT32_MAX : b == UINT32_MAX ? 0 : (uint32_t)(sa % sb);
    case 15:
        return a * b + c;
    case 16:
        return (uint32_t)__builtin_popcount(a);
    case 17:
        return l ? (uint32_t)__builtin_clzll(l) : 64;
    case 26:
        return (uint32_t)l;
    default:
        return (uint32_t)(int32_t)(int8_t)a;
    }
}

static uint64_t dword(uint32_t op, uint64_t x, uint64_t y, uint32_t a, uint32_t b)
{
    switch (op) {
    case 18:
        return x + y;
    case 19:
        return x - y;
    case 20:
        return x * y;
    case 21:
        return x ^ y;
    case 22:
        return shift_right(x, b, 64);
    case 23:
        return shift_left(x, b, 64);
    case 24:
        return (uint64_t)a * b;
    case 25:
        return (uint64_t)((int64_t)(int32_t)a * (int32_t)b) + y;
    case 27:
        return (uint64_t)(int64_t)(int32_t)a;
    case 28:
        return (uint16_t)a;
    default:
        return (uint64_t)b << 32 | a;
    }
}

static void step(struct thread *t, const struct node *n)
{
    const char *letters = rows[n->op].letters;
    size_t sources = strlen(letters) - 1;
    bool imm = n->use_imm && sources > 1;
    uint32_t b = imm ? n->imm : t->r[n->b % WORDS];
    uint64_t y = sources == 3 ? t->l[n->c % DWORDS] : imm ? n->imm : t->l[n->b % DWORDS];
    if (letters[0] == 'r')
        t->r[n->d % WORDS] =
            word(n->op, t->r[n->a % WORDS], b, t->r[n->c % WORDS], t->l[n->a % DWORDS]);
    else
        t->l[n->d % DWORDS] = dword(n->op, t->l[n->a % DWORDS], y, t->r[n->a % WORDS], b);
}

static bool holds(const struct thread *t, const struct node *n)
{
    uint32_t x = t->r[n->x % WORDS], y = t->r[n->y % WORDS];
    switch (n->compare % 4) {
    case 0:
        return x < y;
    case 1:
        return (int32_t)x >= (int32_t)y;
    case 2:
        return (x & 1) == (y & 1);
    default:
        return x != y;
    }
}

static void interpret(struct thread *t, const struct program *p, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct node *n = &p->node[i];
        if (n->kind == ARITHMETIC || (n->kind == GUARDED && holds(t, n)))
            step(t, n);
        if (n->kind == IF && holds(t, n))
            interpret(t, p, n->first, n->count);
        else if (n->kind == IF)
            interpret(t, p, n->other, n->other_count);
        if (n->kind == LOOP)
            for (uint32_t k = t->r[n->x % WORDS] & 3; k > 0; k--)
                interpret(t, p, n->first, n->count);
    }
}

/* Making a program: children lie behind their parents, in runs. */

static void make_node(struct program *p, uint32_t at, int depth);

static uint32_t make_run(struct program *p, uint32_t count, int depth)
{
    uint32_t first = p->count;
    p->count += count;
    for (uint32_t i = 0; i < count; i++)
        make_node(p, first + i, depth);
    return first;
}

static void make_node(struct program *p, uint32_t at, int depth)
{
    struct node n = {0};
    uint32_t *const fields[] = {&n.d, &n.a, &n.b, &n.c, &n.compare, &n.x, &n.y};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = (uint32_t)rng_below(&p->rng, 12);
    n.op = (uint32_t)rng_below(&p->rng, ROWS);
    n.use_imm = rng_below(&p->rng, 4) == 0;
    n.imm = (uint32_t)rng_u64(&p->rng) >> rng_below(&p->rng, 32) & 0x7fffffff;
    uint32_t room = NODES_MAX - p->count;
    n.kind = (enum kind)rng_below(&p->rng, depth < DEPTH_MAX && room > 20 ? 4 : 2);
    if (n.kind == IF || n.kind == LOOP) {
        n.count = 1 + (uint32_t)rng_below(&p->rng, 5);
        n.first = make_run(p, n.count, depth + 1);
    }
    if (n.kind == IF && rng_below(&p->rng, 2) && NODES_MAX - p->count > 20) {
        n.other_count = 1 + (uint32_t)rng_below(&p->rng, 4);
        n.other = make_run(p, n.other_count, depth + 1);
    }
    p->node[at] = n;
}

/* As PTX. */

static void emit_operand(struct strbuf *text, const struct node *n, char letter, uint32_t reg,
                         bool imm)
{
    if (letter == 'p')
        strbuf_printf(text, ", {%%r%u, %%r%u}", n->a % WORDS, n->b % WORDS);
    else if (imm)
        strbuf_printf(text, ", %u", n->imm);
    else
        strbuf_printf(text, ", %%%c%u", letter, reg % (letter == 'r' ? WORDS : DWORDS));
}

static void emit_step(struct strbuf *text, const struct node *n, const char *guard)
{
    const char *letters = rows[n->op].letters;
    const uint32_t regs[] = {n->d, n->a, n->b, n->c};
    strbuf_printf(text, "%s%s %%%c%u", guard, rows[n->op].name, letters[0],
                  n->d % (letters[0] == 'r' ? WORDS : DWORDS));
    for (int i = 1; letters[i]; i++)
        emit_operand(text, n, letters[i], regs[i], i == 2 && n->use_imm);
    strbuf_printf(text, ";\n");
}

static void emit_condition(struct strbuf *text, const struct node *n)
{
    static const char *const names[] = {"lt.u32", "ge.s32", "eq.u32", "ne.u32"};
    uint32_t x = n->x % WORDS, y = n->y % WORDS;
    if (n->compare % 4 == 2)
        strbuf_printf(text,
                      "and.b32 %%r18, %%r%u, 1; and.b32 %%r19, %%r%u, 1;\n"
                      "setp.eq.u32 %%p0, %%r18, %%r19;\n",
                      x, y);
    else
        strbuf_printf(text, "setp.%s %%p0, %%r%u, %%r%u;\n", names[n->compare % 4], x, y);
}

static void emit(struct strbuf *text, const struct program *p, uint32_t first, uint32_t count,
                 int depth)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct node *n = &p->node[i];
        if (n->kind == ARITHMETIC) {
            emit_step(text, n, "");
        } else if (n->kind == GUARDED) {
            emit_condition(text, n);
            emit_step(text, n, "@%p0 ");
        } else if (n->kind == IF) {
            emit_condition(text, n);
            strbuf_printf(text, "@!%%p0 bra ELSE%u;\n", i);
            emit(text, p, n->first, n->count, depth + 1);
            strbuf_printf(text, "bra JOIN%u;\nELSE%u:\n", i, i);
            emit(text, p, n->other, n->other_count, depth + 1);
            strbuf_printf(text, "JOIN%u:\n", i);
        } else {
            strbuf_printf(text,
                          "and.b32 %%r%d, %%r%u, 3;\nLOOP%u: setp.eq.u32 %%p1, %%r%d, 0;\n"
                          "@%%p1 bra DONE%u;\n",
                          10 + depth, n->x % WORDS, i, 10 + depth, i);
            emit(text, p, n->first, n->count, depth + 1);
            strbuf_printf(text, "sub.u32 %%r%d, %%r%d, 1; bra LOOP%u;\nDONE%u:\n", 10 + depth,
                          10 + depth, i, i);
        }
    }
}

static void start(struct thread *t, uint32_t number)
{
    for (uint32_t i = 0; i < WORDS; i++)
        t->r[i] = number * (i * 2654435761u + 1) ^ i;
    for (uint32_t i = 0; i < DWORDS; i++)
        t->l[i] = (uint64_t)t->r[i] << 32 | t->r[i + 1];
}

static uint64_t fold(const struct thread *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        sum = sum * 31 + t->r[i];
    for (uint32_t i = 0; i < DWORDS; i++)
        sum = sum * 31 + t->l[i];
    return sum;
}

static char *program_text(const struct program *p, uint32_t run)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s", KERNEL_BEGIN(""));
    for (uint32_t i = 0; i < WORDS; i++)
        strbuf_printf(&text, "mul.lo.u32 %%r%u, %%t, %u; xor.b32 %%r%u, %%r%u, %u;\n", i,
                      i * 2654435761u + 1, i, i, i);
    for (uint32_t i = 0; i < DWORDS; i++)
        strbuf_printf(&text, "mov.b64 %%l%u, {%%r%u, %%r%u};\n", i, i + 1, i);
    emit(&text, p, 0, run, 0);
    strbuf_printf(&text, "mov.u64 %%l10, 0;\n");
    for (uint32_t i = 0; i < WORDS; i++)
        strbuf_printf(&text, "cvt.u64.u32 %%l11, %%r%u; mad.lo.u64 %%l10, %%l10, 31, %%l11;\n", i);
    for (uint32_t i = 0; i < DWORDS; i++)
        strbuf_printf(&text, "mad.lo.u64 %%l10, %%l10, 31, %%l%u;\n", i);
    strbuf_printf(&text, "st.global.u64 [%%out], %%l10;\n%s", KERNEL_END);
    return strbuf_take(&text);
}

static void one_program(uint64_t seed)
{
    struct program *p = calloc(1, sizeof *p);
    struct device dev;
    assert_non_null(p);
    rng_seed(&p->rng, seed);
    uint32_t run = 4 + (uint32_t)rng_below(&p->rng, 12);
    make_run(p, run, 0);
    char *text = program_text(p, run);
    assert_non_null(text);
    uint64_t *out = device_kernel(&dev, text, 64);
    dev.launch.yield_after = (uint32_t)(seed % 4); /* the stack, and lanes that give way */
    device_run(&dev, 1, 64);
    for (uint32_t i = 0; i < 64; i++) {
        struct thread t;
        start(&t, i);
        interpret(&t, p, 0, run);
        if (out[i] != fold(&t))
            fail_msg("seed %" PRIu64 ", thread %u: %" PRIx64 ", not %" PRIx64 "\n%s", seed, i,
                     out[i], fold(&t), text);
    }
    device_close(&dev);
    free(text);
    free(p);
}

static void random_programs_give_every_thread_what_it_computes_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
        one_program(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_give_every_thread_what_it_computes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
