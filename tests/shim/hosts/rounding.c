/* What the program does to its own floating-point arithmetic is none of the device's. */
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "host.h"

int cuModuleLoadData(handle *, const void *);

/* 1.5 * 2^-127, and the sum of two numbers that has to be rounded. */
static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry floats(.param .u64 out) {\n"
                           ".reg .f32 f<5>; .reg .b64 a;\n"
                           "ld.param.u64 a, [out];\n"
                           "ld.global.f32 f0, [a]; ld.global.f32 f1, [a + 4];\n"
                           "mul.f32 f2, f0, f1; st.global.f32 [a], f2;\n"
                           "ld.global.f32 f3, [a + 8]; ld.global.f32 f4, [a + 12];\n"
                           "add.f32 f3, f3, f4; st.global.f32 [a + 4], f3;\n"
                           "ret; }\n";

static void run_with(handle kernel, void change(void))
{
    static const uint32_t values[] = {0x00c00000, 0x3f000000, 0x3f800000, 0x30000000};
    address words = take(4);
    void *args[] = {&words};
    fenv_t before;
    OK(cuMemcpyHtoD_v2(words, values, sizeof values));
    EXPECT(fegetenv(&before) == 0);
    change();
    OK(launch(kernel, 1, 1, NULL, args));
    OK(cuCtxSynchronize());
    EXPECT(fesetenv(&before) == 0);
    EXPECT(word(words, 0) == 0x00600000 && word(words, 1) == 0x3f800000);
    OK(cuMemFree_v2(words));
}

static void round_up(void)
{
    EXPECT(fesetround(FE_UPWARD) == 0);
}

/* Operands and results that are subnormal become 0, as with -ffast-math. */
static void flush(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

int main(int argc, char **argv)
{
    handle module;
    (void)argc;
    begin(argv, NULL);
    OK(cuModuleLoadData(&module, text));
    run_with(function(module, "floats"), round_up);
    run_with(function(module, "floats"), flush);
    return 0;
}
