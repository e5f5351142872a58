/* A compiled program's code: PTX of a file in a fat binary, registered as nvcc's code does it. */
#ifndef SONDE_TESTS_SHIM_RUNTIME_PROGRAM_H
#define SONDE_TESTS_SHIM_RUNTIME_PROGRAM_H

#include "tests/shim/runtime/runtime.h"

void **__cudaRegisterFatBinary(void *);
char __cudaInitModule(void **);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);

struct fat_binary {
    struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
    } container;
    struct {
        uint16_t kind, one;
        uint32_t header;
        uint64_t payload;
        uint32_t compressed, options;
        uint16_t minor, major;
        uint32_t sm, name, name_bytes;
        uint64_t flags, zero, bytes;
    } entry;
    char payload[8192];
};

/* It reads a file of less than 8 KiB. What it returns is registered until the program ends. */
static inline void **program_of(const char *path)
{
    static struct fat_binary binary = {
        .container = {0xba55ed50u, 1, 16, sizeof binary - 16},
        .entry = {.kind = 1,
                  .one = 0x101,
                  .header = 64,
                  .payload = sizeof binary.payload,
                  .sm = 75,
                  .flags = 0x11},
    };
    static struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper = {0x466243b1u, 1, &binary, NULL};
    FILE *file = fopen(path, "r");
    EXPECT(file);
    size_t bytes = fread(binary.payload, 1, sizeof binary.payload - 1, file);
    EXPECT(bytes > 0 && feof(file));
    fclose(file);
    void **code = __cudaRegisterFatBinary(&wrapper);
    EXPECT(code);
    return code;
}

static inline void add_function(void **code, const void *here, const char *name)
{
    __cudaRegisterFunction(code, here, (char *)name, name, -1, 0, 0, 0, 0, 0);
}

#endif
