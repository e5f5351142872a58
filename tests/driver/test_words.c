/*
 * Every special register, directive and use of a state space of words.tsv has a kernel here that
 * shows what it does: each thread leaves one value, which must be the expected one, in both modes.
 * The rows of the file are counted: one without a kernel here fails, and a kernel without a row.
 */
#include "bench.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"
#define BLOCK_X 8
#define BLOCK_Y 4
#define BLOCK_Z 2
#define BLOCK (BLOCK_X * BLOCK_Y * BLOCK_Z)
#define GRID_X 3
#define GRID_Y 2
#define GRID_Z 2
#define THREADS (BLOCK * GRID_X * GRID_Y * GRID_Z)

struct place {
    uint32_t tid[3], ctaid[3], lane, thread; /* thread: in its block */
};

typedef uint32_t want_fn(const struct place *at);

/* What a word's kernel is made of: text before the kernel, behind its parameters, and in its body,
 * which leaves its result in %r0 and may use %r1-9, %l1-9, %p1-9, %f0-9 and %t, the thread. */
struct word {
    const char *kind, *text;
    const char *head, *globals, *attributes, *body;
    want_fn *want;
    bool refused; /* the launch of this block must be refused */
};

static uint32_t tid_x(const struct place *at)
{
    return at->tid[0];
}
static uint32_t tid_y(const struct place *at)
{
    return at->tid[1];
}
static uint32_t tid_z(const struct place *at)
{
    return at->tid[2];
}
static uint32_t ctaid_x(const struct place *at)
{
    return at->ctaid[0];
}
static uint32_t ctaid_y(const struct place *at)
{
    return at->ctaid[1];
}
static uint32_t ctaid_z(const struct place *at)
{
    return at->ctaid[2];
}
static uint32_t lane(const struct place *at)
{
    return at->lane;
}
static uint32_t lanes_from(const struct place *at)
{
    return UINT32_MAX << at->lane;
}
static uint32_t lanes_below(const struct place *at)
{
    return (1u << at->lane) - 1;
}
static uint32_t lanes_up_to(const struct place *at)
{
    return (2u << at->lane) - 1;
}
static uint32_t thread_7(const struct place *at)
{
    return at->thread + 7;
}
static uint32_t ten_or_thread(const struct place *at)
{
    return at->thread < 32 ? 10 : at->thread;
}
#define CONSTANT(n)                                                                                \
    static uint32_t is_##n(const struct place *at)                                                 \
    {                                                                                              \
        (void)at;                                                                                  \
        return n;                                                                                  \
    }
CONSTANT(0)
CONSTANT(1)
CONSTANT(2)
CONSTANT(3)
CONSTANT(4)
CONSTANT(5)
CONSTANT(8)
CONSTANT(32)
CONSTANT(64)
CONSTANT(77)

#define SREG(name, expected)                                                                       \
    {                                                                                              \
        .kind = "sreg", .text = name, .body = "mov.u32 %r0, " name ";", .want = expected           \
    }
/* Later readings are not smaller, and of a clock some are larger. */
#define CLOCK(name, type, reg, compare)                                                            \
    {                                                                                              \
        .kind = "sreg", .text = name,                                                              \
        .body =                                                                                    \
            "mov." type " " reg "1, " name "; bar.sync 0; membar.gl; mov." type " " reg "2, " name \
            "; setp." compare "." type " %p1, " reg "2, " reg "1; selp.u32 %r0, 1, 0, %p1;",       \
        .want = is_1                                                                               \
    }
#define PRAGMA_MASK(n)                                                                             \
    {                                                                                              \
        .kind = "directive", .text = ".pragma \"used_bytes_mask " n "\"",                          \
        .globals = ".global .align 16 .b32 four[4] = {77, 77, 77, 77};\n",                         \
        .body =                                                                                    \
            ".pragma \"used_bytes_mask " n "\";\nld.global.v4.u32 {%r0, %r1, %r2, %r3}, [four];",  \
        .want = is_77                                                                              \
    }
#define DIRECTIVE(word, ...)                                                                       \
    {                                                                                              \
        .kind = "directive", .text = word, __VA_ARGS__                                             \
    }
#define SPACE(word, ...)                                                                           \
    {                                                                                              \
        .kind = "space", .text = word, __VA_ARGS__                                                 \
    }
#define THREAD_7 "add.u32 %r1, %t, 7; "
/* The thread's own words in shared memory and in its line of the output. */
#define OWN_SHARED "mov.u64 %l1, words; mad.wide.u32 %l1, %t, 4, %l1; "
#define SHARED_WORDS ".shared .align 16 .b32 words[64];\n"
#define FUNC_7                                                                                     \
    "func (.param .b32 r) seven(.param .b32 a)\n{ .reg .b32 %x; ld.param.u32 %x, [a];\n"           \
    "add.u32 %x, %x, 7; st.param.b32 [r], %x; ret; }\n"
#define CALL_7(how)                                                                                \
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t; call (y), " how                         \
    "; ld.param.b32 %r0, [y]; }"

static const struct word words[] = {
    SREG("%tid.x", tid_x),
    SREG("%tid.y", tid_y),
    SREG("%tid.z", tid_z),
    SREG("%ntid.x", is_8),
    SREG("%ntid.y", is_4),
    SREG("%ntid.z", is_2),
    SREG("%ctaid.x", ctaid_x),
    SREG("%ctaid.y", ctaid_y),
    SREG("%ctaid.z", ctaid_z),
    SREG("%nctaid.x", is_3),
    SREG("%nctaid.y", is_2),
    SREG("%nctaid.z", is_2),
    SREG("%laneid", lane),
    SREG("WARP_SZ", is_32),
    SREG("%lanemask_ge", lanes_from),
    SREG("%lanemask_lt", lanes_below),
    SREG("%lanemask_le", lanes_up_to),
    /* Where a cooperative launch has its workspace (test_grid.c); others have none. */
    SREG("%envreg1", is_0),
    SREG("%envreg2", is_0),
    CLOCK("%clock", "u32", "%r", "gt"),
    CLOCK("%clock64", "u64", "%l", "gt"),
    CLOCK("%globaltimer", "u64", "%l", "ge"),

    DIRECTIVE(".version 9.0", .body = "mov.u32 %r0, 5;", .want = is_5),
    DIRECTIVE(".address_size 64", .body = "mov.u64 %l1, 0x100000005; cvt.u32.u64 %r0, %l1;",
              .want = is_5),
    DIRECTIVE(".target sm_75", .body = "mov.u32 %r0, 5;", .want = is_5),
    DIRECTIVE(".target sm_80", .head = ".version 9.0\n.target sm_80\n.address_size 64\n",
              .body = "redux.sync.max.u32 %r0, 5, 0xffffffff;", .want = is_5),
    DIRECTIVE(".reg", .body = "{ .reg .b32 %mine<3>; mov.u32 %mine2, 5; mov.u32 %r0, %mine2; }",
              .want = is_5),
    DIRECTIVE(".param", .globals = "." FUNC_7, .body = CALL_7("seven, (x)"), .want = thread_7),
    DIRECTIVE(".visible .", .globals = ".visible .global .u32 seen = 5;\n",
              .body = "ld.global.u32 %r0, [seen];", .want = is_5),
    DIRECTIVE(".shared .", .globals = ".shared .b32 word;\n",
              .body = "st.shared.u32 [word], 5; bar.sync 0; ld.shared.u32 %r0, [word];",
              .want = is_5),
    DIRECTIVE(".global .", .globals = ".global .u32 five = 5;\n",
              .body = "ld.global.u32 %r0, [five];", .want = is_5),
    DIRECTIVE(".const .", .globals = ".const .u32 five = 5;\n", .body = "ld.const.u32 %r0, [five];",
              .want = is_5),
    DIRECTIVE(".extern .", .globals = ".extern .shared .align 4 .b8 dynamic[];\n",
              .body = "mov.u32 %r0, dynamic;", .want = is_0),
    DIRECTIVE(".align", .globals = ".global .b8 one = 1;\n.global .align 128 .b8 aligned[4];\n",
              .body = "mov.u64 %l1, aligned; and.b64 %l1, %l1, 127; cvt.u32.u64 %r0, %l1;",
              .want = is_0),
    DIRECTIVE(".pragma \"nounroll\"",
              .body = "mov.u32 %r0, 0;\nMORE: .pragma \"nounroll\";\nadd.u32 %r0, %r0, 1;\n"
                      "setp.lt.u32 %p1, %r0, 5; @%p1 bra MORE;",
              .want = is_5),
    DIRECTIVE(".loc", .head = HEAD ".file 1 \"a.cu\"\n", .body = ".loc 1 3 0\nmov.u32 %r0, 5;",
              .want = is_5),
    DIRECTIVE(".maxntid", .attributes = ".maxntid 63, 1, 1\n", .body = "mov.u32 %r0, 5;",
              .refused = true),
    DIRECTIVE(".minnctapersm", .attributes = ".maxntid 64, 1, 1\n.minnctapersm 2\n",
              .body = "mov.u32 %r0, 5;", .want = is_5),
    DIRECTIVE(".func", .globals = "." FUNC_7, .body = CALL_7("seven, (x)"), .want = thread_7),
    DIRECTIVE(".entry", .globals = ".entry other()\n{ ret; }\n", .body = "mov.u32 %r0, 5;",
              .want = is_5),
    DIRECTIVE(".weak .", .globals = ".weak ." FUNC_7, .body = CALL_7("seven, (x)"),
              .want = thread_7),
    DIRECTIVE(".callprototype", .globals = "." FUNC_7,
              .body = "mov.u64 %l1, seven;\nshape: .callprototype (.param .b32 _) _ (.param .b32 "
                      "_);\n" CALL_7("%l1, (x), shape"),
              .want = thread_7),
    DIRECTIVE(".managed", .globals = ".global .attribute(.managed) .align 4 .u32 five = 5;\n",
              .body = "ld.global.u32 %r0, [five];", .want = is_5),
    DIRECTIVE(".attribute(.managed)",
              .globals = ".visible .global .attribute(.managed) .align 8 .b64 five = 5;\n",
              .body = "ld.global.u64 %l1, [five]; cvt.u32.u64 %r0, %l1;", .want = is_5),
    DIRECTIVE(".noreturn", .globals = ".func stop(.param .b32 a) .noreturn\n{ exit; }\n",
              /* the first warp leaves its value itself, and never comes to the kernel's end */
              .body = "mov.u32 %r0, %t; setp.gt.u32 %p1, %t, 31; @%p1 bra ON; mov.u32 %r1, 10;\n"
                      "st.global.u32 [%out], %r1; { .param .b32 x; st.param.b32 [x], 1;\n"
                      "call stop, (x); }\nON:",
              .want = ten_or_thread),
    PRAGMA_MASK("61695"),
    PRAGMA_MASK("4095"),
    PRAGMA_MASK("65520"),
    PRAGMA_MASK("4080"),
    PRAGMA_MASK("15"),
    PRAGMA_MASK("61680"),
    PRAGMA_MASK("3855"),
    PRAGMA_MASK("61455"),
    PRAGMA_MASK("65295"),

    SPACE("ld.param", .body = "ld.param.u32 %r0, [number];", .want = is_77),
    SPACE("st.param", .globals = "." FUNC_7, .body = CALL_7("seven, (x)"), .want = thread_7),
    SPACE("ld.global", .globals = ".global .u32 five = 5;\n", .body = "ld.global.u32 %r0, [five];",
          .want = is_5),
    SPACE("st.global", .body = THREAD_7 "st.global.u32 [%out], %r1; ld.global.u32 %r0, [%out];",
          .want = thread_7),
    SPACE("cvta.global", .globals = ".global .u32 five = 5;\n",
          .body = "mov.u64 %l1, five; cvta.global.u64 %l1, %l1; ld.u32 %r0, [%l1];", .want = is_5),
    SPACE("ld.generic", .globals = ".global .u32 five = 5;\n",
          .body = "mov.u64 %l1, five; cvta.global.u64 %l1, %l1; ld.u32 %r0, [%l1];", .want = is_5),
    SPACE("st.generic", .globals = SHARED_WORDS,
          .body = OWN_SHARED THREAD_7
          "cvta.shared.u64 %l2, %l1; st.u32 [%l2], %r1; ld.shared.u32 %r0, [%l1];",
          .want = thread_7),
    SPACE("cvta.shared", .globals = SHARED_WORDS,
          .body = OWN_SHARED THREAD_7
          "st.shared.u32 [%l1], %r1; cvta.shared.u64 %l2, %l1; ld.u32 %r0, [%l2];",
          .want = thread_7),
    SPACE("ld.shared", .globals = SHARED_WORDS,
          .body = OWN_SHARED THREAD_7 "st.shared.u32 [%l1], %r1; ld.shared.u32 %r0, [%l1];",
          .want = thread_7),
    SPACE("st.shared", .globals = SHARED_WORDS,
          .body = OWN_SHARED THREAD_7 "st.shared.v2.u32 [words+8], {77, 77}; st.shared.u32 [%l1], "
                                      "%r1; ld.shared.u32 %r0, [%l1];",
          .want = thread_7),
    SPACE("ld.local",
          .body = "{ .local .b32 mine[4]; add.u32 %r1, %t, 7; st.local.u32 [mine+12], "
                  "%r1; ld.local.u32 %r0, [mine+12]; }",
          .want = thread_7),
    SPACE("st.local",
          .body = "{ .local .b32 mine[4]; add.u32 %r1, %t, 7; mov.u64 %l1, mine; st.local.u32 "
                  "[%l1+4], %r1; ld.local.u32 %r0, [mine+4]; }",
          .want = thread_7),
    SPACE("cvta.local",
          .body = "{ .local .b32 mine[4]; add.u32 %r1, %t, 7; mov.u64 %l1, mine; cvta.local.u64 "
                  "%l1, %l1; st.u32 [%l1+8], %r1; ld.local.u32 %r0, [mine+8]; }",
          .want = thread_7),
    SPACE("ld.const", .globals = ".const .u32 numbers[2] = {1, 5};\n",
          .body = "ld.const.u32 %r0, [numbers+4];", .want = is_5),
    /* Threads of a block count up; the last value that any of them saw is the block's size. */
    SPACE("atom.shared", .globals = ".shared .u32 count;\n",
          .body = "st.shared.u32 [count], 0; bar.sync 0; atom.shared.add.u32 %r1, [count], 1;\n"
                  "bar.sync 0; ld.shared.u32 %r0, [count];",
          .want = is_64),
    SPACE("atom.global",
          .body = "st.global.u32 [%out], 2; atom.global.add.u32 %r1, [%out], 3;\n"
                  "ld.global.u32 %r0, [%out];",
          .want = is_5),
    SPACE("atom.generic", .globals = ".shared .u32 count;\n",
          .body = "st.shared.u32 [count], 0; bar.sync 0; mov.u64 %l1, count; cvta.shared.u64 %l1, "
                  "%l1; atom.add.u32 %r1, [%l1], 1; bar.sync 0; ld.shared.u32 %r0, [count];",
          .want = is_64),
    SPACE("red.generic",
          .body = "st.global.u32 [%out], 2; red.add.u32 [%out], 3;\n"
                  "membar.gl; ld.global.u32 %r0, [%out];",
          .want = is_5),
    SPACE("prefetch.global", .body = "prefetch.global.L2 [%out]; mov.u32 %r0, 5;", .want = is_5),
    /* 256 floats of 5.0 through the fragments of a warp. */
    SPACE("wmma.global", .globals = ".global .align 32 .f32 held[256];\n",
          .body = "mov.u64 %l1, held; mad.wide.u32 %l1, %t, 16, %l1; mov.f32 %f0, 0f40A00000;\n"
                  "st.global.v4.f32 [%l1], {%f0, %f0, %f0, %f0}; bar.sync 0;\n"
                  "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, "
                  "%f5, %f6, %f7}, [held], 16;\ncvt.rzi.u32.f32 %r0, %f7;",
          .want = is_5),
    SPACE("wmma.shared", .globals = ".shared .align 32 .f32 held[256];\n",
          .body = "mov.f32 %f0, 0f40A00000;\nwmma.store.d.sync.aligned.row.m16n16k16.shared.f32 "
                  "[held], {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0}, 16; bar.sync 0;\n"
                  "mov.u64 %l1, held; mad.wide.u32 %l1, %t, 16, %l1; ld.shared.f32 %f1, [%l1];\n"
                  "cvt.rzi.u32.f32 %r0, %f1;",
          .want = is_5),
    SPACE("cp.global", .head = ".version 9.0\n.target sm_80\n.address_size 64\n",
          .globals = SHARED_WORDS ".global .align 16 .b32 four[4] = {77, 77, 77, 77};\n",
          .body = OWN_SHARED "cp.async.ca.shared.global [%l1], [four], 4; cp.async.commit_group; "
                             "cp.async.wait_group 0; ld.shared.u32 %r0, [%l1];",
          .want = is_77),
    SPACE("cp.shared", .head = ".version 9.0\n.target sm_80\n.address_size 64\n",
          .globals = SHARED_WORDS ".global .align 16 .b32 four[4] = {77, 77, 77, 77};\n",
          .body = "mov.u64 %l1, words; and.b32 %r1, %t, 15; mad.wide.u32 %l1, %r1, 16, %l1;\n"
                  "cp.async.cg.shared.global [%l1], [four], 16; cp.async.wait_all;\n"
                  "ld.shared.u32 %r0, [%l1+12];",
          .want = is_77),
    SPACE("mbarrier.shared", .head = ".version 9.0\n.target sm_80\n.address_size 64\n",
          .globals = ".shared .b64 gate;\n",
          .body = "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [gate], 64; bar.sync 0;\n"
                  "mbarrier.arrive.shared.b64 %l1, [gate];\n"
                  "WAIT: mbarrier.test_wait.shared.b64 %p2, [gate], %l1; @!%p2 bra WAIT;\n"
                  "mov.u32 %r0, 5;",
          .want = is_5),
};
#define WORDS (sizeof words / sizeof *words)

static char *kernel_of(const struct word *word)
{
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "%s%s.visible .entry k(.param .u64 out, .param .u32 number)\n%s{\n"
                  ".reg .b32 %%r<10>; .reg .b64 %%l<10>; .reg .pred %%p<10>; .reg .f32 %%f<10>;\n"
                  ".reg .b32 %%t; .reg .b64 %%out;\n"
                  "mov.u32 %%r1, %%tid.z; mad.lo.u32 %%r1, %%r1, %d, 0; mov.u32 %%r2, %%tid.y;\n"
                  "mad.lo.u32 %%r1, %%r2, %d, %%r1; mov.u32 %%r2, %%tid.x;\n"
                  "add.u32 %%t, %%r1, %%r2; mov.u32 %%r1, %%ctaid.z; mov.u32 %%r2, %%ctaid.y;\n"
                  "mad.lo.u32 %%r1, %%r1, %d, %%r2; mov.u32 %%r2, %%ctaid.x;\n"
                  "mad.lo.u32 %%r1, %%r1, %d, %%r2; mad.lo.u32 %%r1, %%r1, %d, %%t;\n"
                  "ld.param.u64 %%out, [out]; mad.wide.u32 %%out, %%r1, 4, %%out;\n"
                  "%s\nst.global.u32 [%%out], %%r0;\nret;\n}\n",
                  word->head ? word->head : HEAD, word->globals ? word->globals : "",
                  word->attributes ? word->attributes : "", BLOCK_X * BLOCK_Y, BLOCK_X, GRID_Y,
                  GRID_X, BLOCK, word->body);
    return strbuf_take(&text);
}

static struct place place_of(uint32_t i)
{
    uint32_t thread = i % BLOCK, block = i / BLOCK;
    return (struct place){
        .tid = {thread % BLOCK_X, thread / BLOCK_X % BLOCK_Y, thread / BLOCK_X / BLOCK_Y},
        .ctaid = {block % GRID_X, block / GRID_X % GRID_Y, block / GRID_X / GRID_Y},
        .lane = thread % 32,
        .thread = thread};
}

static void check_word(const struct word *word, bool functional)
{
    static uint32_t got[THREADS];
    struct bench bench;
    uint32_t number = 77;
    char *ptx = kernel_of(word);
    bench_open_text(&bench, ptx, functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    struct rt_launch launch = {.grid = {GRID_X, GRID_Y, GRID_Z},
                               .block = {BLOCK_X, BLOCK_Y, BLOCK_Z},
                               .args = ARGS(&out, &number),
                               .arg_count = 2,
                               .functional = functional};
    int rc = rt_launch(bench.rt, bench_kernel(&bench, "k"), &launch, NULL);
    if (rc != (word->refused ? SONDE_EINPUT : 0))
        fail_msg("%s: code %d: %s", word->text, rc, error_text());
    bench_get(&bench, got, out, sizeof got);
    for (uint32_t i = 0; i < THREADS && !word->refused; i++) {
        struct place place = place_of(i);
        if (got[i] != word->want(&place))
            fail_msg("%s: thread %u has %u, not %u", word->text, i, got[i], word->want(&place));
    }
    free(ptx);
    bench_close(&bench);
}

static const struct word *find_word(const char *kind, const char *text)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(words[i].kind, kind) == 0 && strcmp(words[i].text, text) == 0)
            return &words[i];
    return NULL;
}

static void every_word_of_the_table_does_what_it_says(bool functional)
{
    bool seen[WORDS] = {false};
    uint32_t count = 0;
    char *table = bench_read("words.tsv"), *rest;
    for (char *line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (*line == '#')
            continue;
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = '\0';
        const struct word *word = find_word(line, tab + 1);
        if (!word)
            fail_msg("there is no kernel for %s %s", line, tab + 1);
        check_word(word, functional);
        seen[word - words] = true;
        count++;
    }
    for (size_t i = 0; i < WORDS; i++)
        if (!seen[i])
            fail_msg("%s is not in the table", words[i].text);
    assert_int_equal(count, WORDS);
    free(table);
}
IN_BOTH_MODES(every_word_of_the_table_does_what_it_says)

/* For the vendor's assembler: SONDE_WORDS_OUT is a folder that gets the kernels. */
static void write_kernels(const char *folder)
{
    for (size_t i = 0; i < WORDS; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%zu.ptx", folder, i);
        FILE *stream = fopen(path, "wb");
        char *ptx = kernel_of(&words[i]);
        if (!stream || fputs(ptx, stream) < 0 || fclose(stream) != 0)
            fail_msg("cannot write %s", path);
        free(ptx);
    }
}

int main(void)
{
    const char *folder = getenv("SONDE_WORDS_OUT");
    if (folder)
        write_kernels(folder);
    const struct CMUnitTest tests[] = {
        BOTH_MODES(every_word_of_the_table_does_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
