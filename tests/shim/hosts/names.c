/* Kernels of one name in two modules, launches of two sizes; asked for, one that does not end. */
#include "host.h"

int cuModuleLoadData(handle *, const void *);

#define KERNEL(name, body)                                                                         \
    ".version 6.0\n.target sm_30\n.address_size 64\n"                                              \
    ".visible .entry " name "(.param .u64 p) {\n.reg .u64 %p; .reg .u32 %v; .reg .pred %q;\n"      \
    "ld.param.u64 %p, [p];\n" body "ret; }\n"

static const char one[] = KERNEL("same", "mov.u32 %v, 7;\nst.global.u32 [%p], %v;\n");
static const char other[] = KERNEL("same", "mov.u32 %v, 8;\nst.global.u32 [%p], %v;\n");
/* Alike but for what is read, for the sign of a guard, for a space. */
static const char *const alike[] = {
    KERNEL("same", "mov.u32 %v, %tid.x;\nst.global.u32 [%p], %v;\n"),
    KERNEL("same", "mov.u32 %v, %ntid.x;\nst.global.u32 [%p], %v;\n"),
    KERNEL("same", "setp.ne.u64 %q, %p, 0;\n@%q st.global.u32 [%p], 2;\n"),
    KERNEL("same", "setp.ne.u64 %q, %p, 0;\n@!%q st.global.u32 [%p], 2;\n"),
    KERNEL("same", "setp.ne.u64 %q, %p, 0;\n@!%q st.shared.u32 [%p], 2;\n")};
static const int left[] = {0, 1, 2, 2, 2};
static const char endless[] = KERNEL("endless", "again:\nadd.u32 %v, %v, 1;\nbra again;\n");

static handle of_text(const char *text, const char *name)
{
    handle module;
    OK(cuModuleLoadData(&module, text));
    return function(module, name);
}

int main(int argc, char **argv)
{
    begin(argv, NULL);
    address memory = take(1);
    void *args[] = {&memory};
    handle first = of_text(one, "same"), second = of_text(other, "same");
    OK(launch(first, 1, 32, NULL, args));
    EXPECT(word(memory, 0) == 7);
    OK(launch(second, 1, 32, NULL, args));
    EXPECT(word(memory, 0) == 8);
    OK(launch(of_text(one, "same"), 2, 64, NULL, args)); /* the same code, loaded again */
    EXPECT(word(memory, 0) == 7);
    for (int i = 0; i < 5; i++) {
        OK(launch(of_text(alike[i], "same"), 1, 1, NULL, args));
        EXPECT(word(memory, 0) == left[i]);
    }
    if (argc > 2 && strcmp(argv[2], "endless") == 0) {
        OK(launch(of_text(endless, "endless"), 1, 64, NULL, args));
        GIVES(719, cuCtxSynchronize());
    }
    return 0;
}
