/* Functions and kernels of libraries: attributes, parameters, how many blocks fit, ways to launch.
 */
#include "host.h"

int cuModuleGetFunctionCount(unsigned *, handle);
int cuModuleEnumerateFunctions(handle *, unsigned, handle);
int cuModuleGetLoadingMode(int *);
int cuLibraryLoadFromFile(handle *, const char *, int *, void **, unsigned, int *, void **,
                          unsigned);
int cuLibraryUnload(handle);
int cuLibraryGetKernel(handle *, handle, const char *);
int cuLibraryGetKernelCount(unsigned *, handle);
int cuLibraryEnumerateKernels(handle *, unsigned, handle);
int cuLibraryGetGlobal(address *, size_t *, handle, const char *);
int cuLibraryGetManaged(address *, size_t *, handle, const char *);
int cuKernelGetLibrary(handle *, handle);
int cuKernelGetName(const char **, handle);
int cuKernelGetFunction(handle *, handle);
int cuKernelGetParamInfo(handle, size_t, size_t *, size_t *);
int cuKernelGetAttribute(int *, int, handle, int);
int cuKernelSetAttribute(int, int, handle, int);
int cuFuncGetAttribute(int *, int, handle);
int cuFuncSetAttribute(handle, int, int);
int cuFuncSetCacheConfig(handle, int);
int cuFuncSetSharedMemConfig(handle, int);
int cuFuncGetModule(handle *, handle);
int cuFuncIsLoaded(int *, handle);
int cuFuncLoad(handle);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, handle, int, size_t, unsigned);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t *, handle, int, int);
int cuOccupancyMaxPotentialBlockSize(int *, int *, handle, size_t (*)(int), size_t, int);
int cuOccupancyMaxActiveClusters(int *, handle, const struct abi_launch_config_driver *);
int cuOccupancyMaxPotentialClusterSize(int *, handle, const struct abi_launch_config_driver *);
int cuLaunchKernelEx(const struct abi_launch_config_driver *, handle, void **, void **);
int cuLaunchCooperativeKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, handle, void **);

enum {
    INVALID = 1,
    BAD_DEVICE = 101,
    BAD_HANDLE = 400,
    NOT_FOUND = 500,
    TOO_MANY = 720, /* blocks of a cooperative launch */
    MAX_THREADS = 0,
    SHARED = 1,
    CONST = 2,
    PTX_VERSION = 5,
    DYNAMIC_SHARED = 8,
    SMS = 12 /* gtx780 */
};

static void attributes(handle scale)
{
    int value, no_function;
    OK(cuFuncGetAttribute(&value, MAX_THREADS, scale));
    EXPECT(value == 1024);
    OK(cuFuncGetAttribute(&value, SHARED, scale));
    EXPECT(value == 0);
    OK(cuFuncGetAttribute(&value, CONST, scale));
    EXPECT(value == 16); /* the module's table */
    OK(cuFuncGetAttribute(&value, PTX_VERSION, scale));
    EXPECT(value >= 10 && value < 200);
    OK(cuFuncGetAttribute(&value, DYNAMIC_SHARED, scale));
    EXPECT(value == 48 << 10); /* what the device gives where nothing is set */
    OK(cuFuncSetAttribute(scale, DYNAMIC_SHARED, 1000));
    OK(cuFuncGetAttribute(&value, DYNAMIC_SHARED, scale));
    EXPECT(value == 1000);
    GIVES(INVALID, cuFuncGetAttribute(&value, 16, scale));
    GIVES(INVALID, cuFuncGetAttribute(&value, -1, scale));
    GIVES(INVALID, cuFuncGetAttribute(NULL, SHARED, scale));
    GIVES(BAD_HANDLE, cuFuncGetAttribute(&value, SHARED, &no_function));
    GIVES(INVALID, cuFuncSetAttribute(scale, MAX_THREADS, 1));
    OK(cuFuncSetCacheConfig(scale, 3));
    GIVES(INVALID, cuFuncSetCacheConfig(scale, 4));
    OK(cuFuncSetSharedMemConfig(scale, 2));
    GIVES(INVALID, cuFuncSetSharedMemConfig(scale, 3));
    value = 0;
    OK(cuFuncIsLoaded(&value, scale));
    EXPECT(value == 1);
    OK(cuFuncLoad(scale));
    GIVES(BAD_HANDLE, cuFuncLoad(&no_function));
}

static size_t a_quarter(int threads)
{
    return (size_t)threads * 48; /* 48 KiB of 1024 threads */
}

static void occupancy(handle scale, handle reverse)
{
    int blocks, grid, threads;
    size_t bytes, other;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, scale, 256, 0, 0));
    EXPECT(blocks == 8); /* of 2048 threads */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, scale, 64, 0, 1));
    EXPECT(blocks == 16); /* at most so many */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, reverse, 64, 16 << 10, 0));
    EXPECT(blocks == 3); /* of 48 KiB */
    GIVES(INVALID, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, scale, 0, 0, 0));
    GIVES(INVALID, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, scale, 64, 0, 2));
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, reverse, 4, 64));
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&other, reverse, 1, 64));
    EXPECT(bytes == 12 << 10 && other == 48 << 10);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, reverse, 64, bytes, 0));
    EXPECT(blocks == 4);
    GIVES(INVALID, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, reverse, 17, 64));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, scale, NULL, 0, 0));
    EXPECT(grid * threads == SMS * 2048);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, scale, NULL, 0, 128));
    EXPECT(threads == 128 && grid == SMS * 16);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, reverse, a_quarter, 0, 0));
    EXPECT(grid * threads == SMS * 1024);
    struct abi_launch_config_driver config = {.grid = {1, 1, 1}, .block = {256, 1, 1}};
    OK(cuOccupancyMaxActiveClusters(&blocks, scale, &config));
    EXPECT(blocks == SMS * 8); /* of one block */
    OK(cuOccupancyMaxPotentialClusterSize(&blocks, scale, &config));
    EXPECT(blocks == 1); /* it has none */
    GIVES(INVALID, cuOccupancyMaxActiveClusters(&blocks, scale, NULL));
}

static void of_a_module(handle module, handle scale)
{
    unsigned count, more;
    int mode;
    handle all[32], first[1], own;
    size_t found = 0;
    OK(cuModuleGetLoadingMode(&mode));
    EXPECT(mode == 1 || mode == 2);
    GIVES(INVALID, cuModuleGetLoadingMode(NULL));
    OK(cuModuleGetFunctionCount(&count, module));
    OK(cuModuleEnumerateFunctions(all, 32, module));
    for (unsigned i = 0; i < count; i++) {
        found += all[i] == scale;
    }
    EXPECT(count == 8 && found == 1);
    OK(cuModuleEnumerateFunctions(first, 1, module));
    EXPECT(first[0] == all[0]);
    GIVES(BAD_HANDLE, cuModuleGetFunctionCount(&more, &count));
    OK(cuFuncGetModule(&own, scale));
    EXPECT(own == module);
}

static void of_a_library(char **argv)
{
    handle library, kernel, same, all[32];
    unsigned count;
    const char *name;
    size_t offset, bytes;
    address at;
    int value;
    OK(cuLibraryLoadFromFile(&library, path_of(argv, "kernels.ptx"), NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "scale"));
    GIVES(NOT_FOUND, cuLibraryGetKernel(&same, library, "none"));
    OK(cuLibraryGetKernelCount(&count, library));
    EXPECT(count == 8);
    OK(cuLibraryEnumerateKernels(all, 32, library));
    OK(cuKernelGetName(&name, kernel));
    EXPECT(strcmp(name, "scale") == 0);
    OK(cuKernelGetLibrary(&same, kernel));
    EXPECT(same == library);
    GIVES(BAD_HANDLE, cuKernelGetLibrary(&same, &count));
    GIVES(INVALID, cuKernelGetLibrary(NULL, kernel));
    OK(cuKernelGetFunction(&same, kernel));
    EXPECT(same);
    OK(cuKernelGetParamInfo(kernel, 2, &offset, &bytes));
    EXPECT(offset == 12 && bytes == 4);
    OK(cuKernelGetParamInfo(kernel, 0, &offset, NULL));
    EXPECT(offset == 0);
    GIVES(INVALID, cuKernelGetParamInfo(kernel, 3, &offset, &bytes));
    GIVES(INVALID, cuKernelGetParamInfo(kernel, 0, NULL, &bytes));
    GIVES(BAD_HANDLE, cuKernelGetParamInfo(&count, 0, &offset, &bytes));
    OK(cuKernelGetAttribute(&value, MAX_THREADS, kernel, 0));
    EXPECT(value == 1024);
    GIVES(BAD_DEVICE, cuKernelGetAttribute(&value, MAX_THREADS, kernel, 1));
    OK(cuKernelSetAttribute(DYNAMIC_SHARED, 2000, kernel, 0));
    OK(cuKernelGetAttribute(&value, DYNAMIC_SHARED, kernel, 0));
    EXPECT(value == 2000);
    GIVES(BAD_DEVICE, cuKernelSetAttribute(DYNAMIC_SHARED, 1, kernel, 1));
    OK(cuLibraryGetGlobal(&at, &bytes, library, "offset"));
    EXPECT(bytes == 4 && word(at, 0) == 5);
    OK(cuLibraryGetManaged(NULL, &bytes, library, "table"));
    EXPECT(bytes == 16);
    GIVES(INVALID, cuLibraryGetGlobal(NULL, NULL, library, "offset"));
    GIVES(NOT_FOUND, cuLibraryGetGlobal(&at, &bytes, library, "none"));
    OK(cuLibraryUnload(library));
}

static void launches(handle scale, handle stream)
{
    enum { END, BUFFER, SIZE };
    address p = take(64);
    int n = 32, factor = 3;
    void *args[] = {&p, &n, &factor};
    struct {
        address p;
        int n, factor;
    } packed = {p, 40, 2};
    size_t bytes = sizeof packed;
    void *extra[] = {(void *)BUFFER, &packed, (void *)SIZE, &bytes, (void *)END};
    void *wrong[] = {(void *)7, &packed, (void *)END};
    struct abi_attribute cooperative = {.id = ABI_ATTRIBUTE_COOPERATIVE, .value = {.number = 1}};
    struct abi_launch_config_driver config = {
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .stream = stream};
    OK(cuLaunchKernelEx(&config, scale, args, NULL)); /* 1 to 8, where there are as many */
    OK(cuCtxSynchronize());
    EXPECT(word(p, 31) == 8 && word(p, 32) == 1);
    OK(cuLaunchKernelEx(&config, scale, NULL, extra)); /* 8 to 21, 1 to 7 */
    OK(cuCtxSynchronize());
    EXPECT(word(p, 31) == 21 && word(p, 39) == 7 && word(p, 40) == 1);
    GIVES(INVALID, cuLaunchKernelEx(&config, scale, args, extra));
    GIVES(INVALID, cuLaunchKernelEx(&config, scale, NULL, wrong));
    GIVES(INVALID, cuLaunchKernelEx(NULL, scale, args, NULL));
    GIVES(BAD_HANDLE, cuLaunchKernelEx(&config, &packed, args, NULL));
    OK(cuLaunchCooperativeKernel(scale, 2, 1, 1, 32, 1, 1, 0, stream, args));
    OK(cuCtxSynchronize());
    EXPECT(word(p, 31) == 68);
    GIVES(TOO_MANY,
          cuLaunchCooperativeKernel(scale, SMS * 16 + 1, 1, 1, 128, 1, 1, 0, stream, args));
    config.attributes = &cooperative;
    config.attribute_count = 1;
    config.grid[0] = SMS * 16 + 1;
    config.block[0] = 128;
    GIVES(TOO_MANY, cuLaunchKernelEx(&config, scale, args, NULL));
    cooperative.value.number = 0;
    OK(cuLaunchKernelEx(&config, scale, args, NULL));
    OK(cuCtxSynchronize());
    EXPECT(word(p, 31) == 209);
    OK(cuMemFree_v2(p));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL, stream;
    handle scale = function(module, "scale"), reverse = function(module, "reverse");
    OK(cuStreamCreate(&stream, 1));
    attributes(scale);
    occupancy(scale, reverse);
    of_a_module(module, scale);
    of_a_library(argv);
    launches(scale, stream);
    OK(cuStreamDestroy_v2(stream));
    printf("functions: all right\n");
}
