/* What a compiled program registers: its functions, variables and managed variables, by the address
 * of what stands for them in the host. The argument is the folder of the PTX. */
#include "tests/shim/runtime/program.h"

int cudaGetSymbolAddress(void **, const void *);
int cudaGetSymbolSize(size_t *, const void *);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, void *);
int cudaMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, void *);
int cudaLaunchKernel(const void *, struct abi_dim3, struct abi_dim3, void **, size_t, void *);
int cudaLaunchCooperativeKernel(const void *, struct abi_dim3, struct abi_dim3, void **, size_t,
                                void *);
int cudaLaunchKernelExC(const struct abi_launch_config *, const void *, void **);
int cudaFuncGetAttributes(struct abi_func_attributes *, const void *);
int cudaFuncSetAttribute(const void *, int, int);
int cudaFuncSetCacheConfig(const void *, int);
int cudaFuncGetName(const char **, const void *);
int cudaFuncGetParamInfo(const void *, size_t, size_t *, size_t *);
int cudaGetKernel(void **, const void *);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, const void *, int, size_t,
                                                           unsigned);
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *, const void *, int, int);
int cudaDeviceGetAttribute(int *, int, int);
int cudaLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **,
                            unsigned);
int cudaLibraryUnload(void *);
int cudaLibraryGetKernel(void **, void *, const char *);
int cudaLibraryGetKernelCount(unsigned *, void *);
int cudaLibraryGetGlobal(void **, size_t *, void *, const char *);
unsigned __cudaPushCallConfiguration(struct abi_dim3, struct abi_dim3, size_t, void *);
int __cudaPopCallConfiguration(struct abi_dim3 *, struct abi_dim3 *, size_t *, void *);

static char scale_here, add_one_here, shared_here, lost_here, factor_here, addend_here, gone_here;
static uint32_t *shared_word; /* set by the runtime */
static const struct abi_dim3 one = {1, 1, 1};

static void variables(void *stream)
{
    uint32_t value = 0, seven = 7, two[2] = {8, 9};
    void *place = NULL;
    size_t bytes = 0;
    OK(cudaMemcpyFromSymbol(&value, &factor_here, 4, 0, ABI_DEVICE_TO_HOST));
    EXPECT(value == 3);
    OK(cudaMemcpyToSymbol(&factor_here, &seven, 4, 0, ABI_HOST_TO_DEVICE));
    OK(cudaGetSymbolAddress(&place, &factor_here));
    OK(cudaGetSymbolSize(&bytes, &factor_here));
    EXPECT(bytes == 4 && word_at(place, 0) == 7);
    OK(cudaMemcpyToSymbolAsync(&addend_here, two, 2, 2, ABI_DEFAULT, stream)); /* its upper half */
    OK(cudaMemcpyFromSymbolAsync(&value, &addend_here, 4, 0, ABI_DEFAULT, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(value == 4 + (8u << 16));
    two[0] = 0;
    OK(cudaMemcpyToSymbol(&addend_here, two, 2, 2, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpyToSymbol(&factor_here, two, 8, 0, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpyToSymbol(&factor_here, two, 1, 4, ABI_HOST_TO_DEVICE));
    GIVES(1, cudaMemcpyToSymbol(&factor_here, two, 0, 5, ABI_HOST_TO_DEVICE));
    OK(cudaMemcpyToSymbol(&factor_here, two, 0, 4, ABI_HOST_TO_DEVICE));
    GIVES(21, cudaMemcpyToSymbol(&factor_here, two, 4, 0, ABI_DEVICE_TO_HOST));
    GIVES(21, cudaMemcpyToSymbol(&factor_here, two, 4, 0, ABI_HOST_TO_HOST));
    GIVES(1, cudaMemcpyFromSymbol(two, &factor_here, 2, 3, ABI_DEVICE_TO_HOST));
    GIVES(21, cudaMemcpyFromSymbol(two, &factor_here, 4, 0, ABI_HOST_TO_DEVICE));
    GIVES(13, cudaMemcpyFromSymbol(two, &two, 4, 0, ABI_DEVICE_TO_HOST));
    GIVES(13, cudaMemcpyFromSymbol(two, &scale_here, 4, 0, ABI_DEVICE_TO_HOST));
    GIVES(13, cudaGetSymbolSize(&bytes, &lost_here)); /* registered, and not in the code */
    GIVES(1, cudaGetSymbolSize(NULL, &factor_here));
    GIVES(1, cudaGetSymbolAddress(NULL, &factor_here));
}

/* The device's code and the host read and write one word. */
static void managed(void)
{
    OK(cudaLaunchKernel(&add_one_here, one, one, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    EXPECT(shared_word && *shared_word == 22);
    *shared_word = 40;
    OK(cudaLaunchKernel(&add_one_here, one, one, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    EXPECT(*shared_word == 41);
}

static void launches(void *stream)
{
    uint32_t count = 33, *memory = memory_of(40 * 4);
    void *args[] = {&memory, &count};
    struct abi_dim3 block = {40, 1, 1}, none = {40, 0, 1}, many = {1 << 20, 1, 1};
    OK(cudaLaunchKernel(&scale_here, one, block, args, 0, stream)); /* 0 * 7 + 4 */
    OK(cudaLaunchCooperativeKernel(&scale_here, one, block, args, 0, stream));
    struct abi_attribute cooperative = {.id = ABI_ATTRIBUTE_COOPERATIVE, .value = {.number = 1}};
    struct abi_launch_config config = {one, block, 0, stream, &cooperative, 1};
    OK(cudaLaunchKernelExC(&config, &scale_here, args));
    OK(cudaStreamSynchronize(stream));
    EXPECT(word_at(memory, 0) == (4 * 7 + 4) * 7 + 4 && word_at(memory, 32) == word_at(memory, 0));
    EXPECT(word_at(memory, 33) == 0);
    /* All blocks of a cooperative launch are on the device at once, also those of one thread. */
    GIVES(720, cudaLaunchCooperativeKernel(&scale_here, many, block, args, 0, stream));
    GIVES(720, cudaLaunchCooperativeKernel(&scale_here, many, one, args, 0, stream));
    config.grid = many;
    GIVES(720, cudaLaunchKernelExC(&config, &scale_here, args));
    GIVES(1, cudaLaunchKernelExC(NULL, &scale_here, args));
    GIVES(1, cudaLaunchKernel(&scale_here, one, none, args, 0, stream));
    GIVES(98, cudaLaunchKernel(&lost_here, one, block, args, 0, stream));
    GIVES(98, cudaLaunchKernel(&gone_here, one, block, args, 0, stream));
    GIVES(98, cudaLaunchKernel(&factor_here, one, block, args, 0, stream));
    GIVES(400, cudaLaunchKernel(&scale_here, one, block, args, 0, &count));
    GIVES(98, cudaLaunchCooperativeKernel(&gone_here, one, block, args, 0, stream));
    OK(cudaFree(memory));
}

/* Configurations of launches whose arguments contain launches. */
static void configurations(void)
{
    struct abi_dim3 grid, block, outer = {2, 3, 4}, inner = {5, 6, 7};
    size_t shared = 0;
    void *stream = NULL;
    EXPECT(__cudaPushCallConfiguration(outer, inner, 8, &grid) == 0);
    EXPECT(__cudaPushCallConfiguration(inner, outer, 16, &block) == 0);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    EXPECT(grid.y == 6 && block.z == 4 && shared == 16 && stream == &block);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    EXPECT(grid.y == 3 && block.z == 7 && shared == 8 && stream == &grid);
    GIVES(52, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
}

static void functions(void)
{
    struct abi_func_attributes told;
    const char *name = NULL;
    size_t offset = 9, bytes = 0;
    void *kernel;
    int most = 0;
    OK(cudaDeviceGetAttribute(&most, 97, 0)); /* with asking for it */
    OK(cudaFuncGetAttributes(&told, &shared_here));
    EXPECT(told.shared_bytes == 64 && told.max_threads > 0 && told.registers > 0);
    EXPECT(told.ptx_version == 75 && told.max_dynamic_shared == (48 << 10) - 64);
    OK(cudaFuncSetAttribute(&shared_here, 8, most - 64));
    OK(cudaFuncSetAttribute(&shared_here, 9, 30));
    OK(cudaFuncGetAttributes(&told, &shared_here));
    EXPECT(told.max_dynamic_shared == most - 64 && told.carveout == 30);
    GIVES(1, cudaFuncSetAttribute(&shared_here, 7, 0));
    GIVES(1, cudaFuncSetAttribute(&shared_here, 16, 0));
    GIVES(1, cudaFuncGetAttributes(NULL, &shared_here));
    GIVES(400, cudaFuncGetAttributes(&told, &gone_here));
    GIVES(98, cudaFuncGetAttributes(&told, NULL));
    OK(cudaFuncSetCacheConfig(&shared_here, 3));
    GIVES(1, cudaFuncSetCacheConfig(&shared_here, 4));
    OK(cudaFuncGetName(&name, &scale_here));
    EXPECT(strcmp(name, "scale") == 0);
    GIVES(1, cudaFuncGetName(NULL, &scale_here));
    OK(cudaFuncGetParamInfo(&scale_here, 1, &offset, &bytes));
    EXPECT(offset == 8 && bytes == 4);
    OK(cudaFuncGetParamInfo(&scale_here, 0, &offset, NULL));
    EXPECT(offset == 0);
    GIVES(1, cudaFuncGetParamInfo(&scale_here, 2, &offset, &bytes));
    OK(cudaGetKernel(&kernel, &scale_here));
    GIVES(1, cudaGetKernel(NULL, &scale_here));
    GIVES(98, cudaGetKernel(&kernel, &gone_here));
}

/* More shared memory leaves room for fewer blocks, and the most is told for a number of blocks. */
static void occupancy(void)
{
    int few = 0, many = 0, per_sm = 0;
    size_t bytes = 0, for_fewer = 0;
    OK(cudaDeviceGetAttribute(&per_sm, 81, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, &shared_here, 64, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&few, &shared_here, 64, 40 << 10, 1));
    EXPECT(few > 0 && few < many && few <= per_sm / (40 << 10));
    GIVES(1, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, &shared_here, 0, 0));
    GIVES(1, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&few, &shared_here, 64, 0, 2));
    GIVES(98, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, &gone_here, 64, 0));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &shared_here, 4, 64));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&for_fewer, &shared_here, 2, 64));
    EXPECT(bytes > 0 && bytes < for_fewer && 4 * bytes <= (size_t)per_sm);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, &shared_here, 64, bytes));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, &shared_here, 64, bytes + 1));
    EXPECT(few >= 4 && many < 4);
    GIVES(1, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &shared_here, 10000, 64));
    GIVES(1, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &shared_here, 0, 64));
    GIVES(1, cudaOccupancyAvailableDynamicSMemPerBlock(NULL, &shared_here, 1, 64));
}

static void libraries(const char *path)
{
    void *library, *kernel, *place;
    unsigned count = 0;
    size_t bytes = 0;
    uint32_t n = 1, *memory = memory_of(4);
    OK(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    EXPECT(count == 6);
    OK(cudaLibraryGetKernel(&kernel, library, "scale"));
    OK(cudaLibraryGetGlobal(&place, &bytes, library, "factor"));
    EXPECT(bytes == 4 && word_at(place, 0) == 3); /* its own, not the program's */
    void *args[] = {&memory, &n};
    OK(cudaLaunchKernel(kernel, one, one, args, 0, NULL));
    EXPECT(word_at(memory, 0) == 4);
    GIVES(500, cudaLibraryGetKernel(&kernel, library, "nothing"));
    GIVES(500, cudaLibraryGetGlobal(&place, &bytes, library, "nothing"));
    GIVES(1, cudaLibraryGetKernel(NULL, library, "scale"));
    GIVES(400, cudaLibraryGetKernel(&kernel, &count, "scale"));
    GIVES(1, cudaLibraryGetGlobal(&place, &bytes, library, NULL));
    GIVES(400, cudaLibraryGetGlobal(&place, &bytes, &count, "factor"));
    OK(cudaLibraryUnload(library));
    GIVES(400, cudaLibraryUnload(library));
    GIVES(301, cudaLibraryLoadFromFile(&library, "/nowhere/at.all", NULL, NULL, 0, NULL, NULL, 0));
    GIVES(1, cudaLibraryLoadFromFile(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaFree(memory));
}

int main(int argc, char **argv)
{
    void *stream, **code = argc == 2 ? program_of(path_of(argv, "kernels.ptx")) : NULL;
    add_function(code, &scale_here, "scale");
    add_function(code, &add_one_here, "add_one");
    add_function(code, &shared_here, "with_shared");
    __cudaRegisterVar(code, &factor_here, "factor", "factor", 0, 4, 0, 0);
    __cudaRegisterVar(code, &addend_here, "addend", "addend", 0, 4, 1, 0);
    __cudaRegisterVar(code, &lost_here, "lost", "lost", 0, 4, 0, 0);
    __cudaRegisterManagedVar(code, (void **)&shared_word, "shared_word", "shared_word", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(code);
    OK(cudaStreamCreate(&stream));
    variables(stream);
    managed();
    launches(stream);
    configurations();
    functions();
    occupancy();
    libraries(path_of(argv, "kernels.ptx"));
    OK(cudaStreamDestroy(stream));
    __cudaUnregisterFatBinary(code);
    GIVES(98, cudaLaunchKernel(&scale_here, one, one, NULL, 0, NULL));
    return 0;
}
