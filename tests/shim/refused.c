/*
 * A program that looks at no error: it launches `right`, or with another argument `wrong`, whose
 * code cannot be run, and ends with 0. Arguments: the PTX and the kernel's name.
 */
#include "tests/shim/runtime/program.h"

int cudaLaunchKernel(const void *, struct abi_dim3, struct abi_dim3, void **, size_t, void *);

int main(int argc, char **argv)
{
    static char here;
    EXPECT(argc == 3);
    void **code = program_of(argv[1]);
    add_function(code, &here, argv[2]);
    __cudaRegisterFatBinaryEnd(code);
    struct abi_dim3 one = {1, 1, 1};
    printf("launched: %d\n", cudaLaunchKernel(&here, one, one, NULL, 0, NULL));
    return 0;
}
