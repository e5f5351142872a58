// What the programs share: a call that must succeed, a value that must be right. Status 3 says that
// one was not: 1 is what `sonde run` gives where a kernel faulted.
#ifndef SONDE_TESTS_SHIM_CHECK_H
#define SONDE_TESTS_SHIM_CHECK_H

// A program's main function: its own, or one of several in a binary (together.sh).
#ifndef PROGRAM
#define PROGRAM int main()
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t check_error = (call);                                                          \
        if (check_error != cudaSuccess) {                                                          \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error));   \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

#define GIVES(code, call)                                                                          \
    do {                                                                                           \
        cudaError_t gives_error = (call);                                                          \
        if (gives_error != (code)) {                                                               \
            printf("%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call,                      \
                   cudaGetErrorName(gives_error), cudaGetErrorName(code));                         \
            exit(3);                                                                               \
        }                                                                                          \
        cudaGetLastError();                                                                        \
    } while (0)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                         \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

#endif
