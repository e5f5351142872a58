/* Modules and libraries: from a file and from memory; functions, variables, what they tell. */
#include "host.h"

int cuModuleLoadData(handle *, const void *);
int cuModuleLoadDataEx(handle *, const void *, unsigned, const int *, void **);
int cuModuleGetGlobal_v2(address *, size_t *, handle, const char *);
int cuModuleUnload(handle);
int cuFuncGetAttribute(int *, int, handle);
int cuFuncSetAttribute(handle, int, int);
int cuFuncGetName(const char **, handle);
int cuFuncGetParamInfo(handle, size_t, size_t *, size_t *);
int cuLibraryLoadData(handle *, const void *, const int *, void **, unsigned, const int *, void **,
                      unsigned);
int cuLibraryLoadFromFile(handle *, const char *, const int *, void **, unsigned, const int *,
                          void **, unsigned);
int cuLibraryGetKernel(handle *, handle, const char *);
int cuLibraryGetGlobal(address *, size_t *, handle, const char *);
int cuLibraryGetModule(handle *, handle);
int cuLibraryUnload(handle);
int cuKernelGetFunction(handle *, handle);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, handle, int, size_t);

static char *read_text(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    EXPECT(file);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    fclose(file);
    return text;
}

static void libraries(char **argv, const char *text)
{
    handle library, file, kernel, module, of_kernel;
    address variable, p = take(4);
    size_t bytes;
    int n = 4, factor = 2;
    void *args[] = {&p, &n, &factor};
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryLoadFromFile(&file, path_of(argv, "kernels.ptx"), NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "scale"));
    GIVES(500, cuLibraryGetKernel(&kernel, library, "scales"));
    OK(cuLibraryGetGlobal(&variable, &bytes, library, "offset"));
    OK(cuMemsetD32_v2(variable, 100, 1));
    OK(launch(kernel, 1, 32, NULL, args)); /* a kernel is launched like a function */
    EXPECT(word(p, 3) == 102);
    OK(cuKernelGetFunction(&of_kernel, kernel));
    OK(launch(of_kernel, 1, 32, NULL, args));
    EXPECT(word(p, 3) == 304);
    OK(cuLibraryGetModule(&module, file));
    OK(launch(function(module, "scale"), 1, 32, NULL, args)); /* with a variable of its own */
    EXPECT(word(p, 3) == 613);
    OK(cuLibraryUnload(library));
    OK(cuLibraryUnload(file));
    OK(cuMemFree_v2(p));
}

static const char calls_nobody[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func nobody ();\n"
    ".visible .entry k() { call nobody, (); ret; }\n";

/* What is wrong stands in the log of errors, cut to its room; the other log is empty. */
static void logs(const char *good)
{
    int options[] = {3, 4, 5, 6};
    char info[] = "untouched", errors[200];
    void *values[] = {info, (void *)sizeof info, errors, (void *)sizeof errors};
    handle module;
    GIVES(218, cuModuleLoadDataEx(&module, calls_nobody, 4, options, values));
    EXPECT(strstr(errors, "nobody") && (size_t)values[3] == strlen(errors));
    EXPECT(!*info && !values[1]);
    values[3] = (void *)4;
    GIVES(200, cuModuleLoadDataEx(&module, "this is no code", 4, options, values));
    EXPECT((size_t)values[3] == 3 && strlen(errors) == 3);
    values[3] = (void *)sizeof errors;
    OK(cuModuleLoadDataEx(&module, good, 4, options, values));
    EXPECT(!*errors && !values[3]);
    OK(cuModuleUnload(module));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL, again, none;
    const char *text = read_text(path_of(argv, "kernels.ptx")), *name;
    int log_bytes = 200, threads = 0, blocks = 0, options[] = {3, 4};
    char log[200];
    void *values[] = {log, (void *)(intptr_t)log_bytes};
    size_t bytes, at;
    address variable, out = take(8);
    GIVES(301, cuModuleLoad(&none, path_of(argv, "nothing.ptx")));
    GIVES(200, cuModuleLoadData(&none, "this is no code"));
    GIVES(218, cuModuleLoadData(&none, calls_nobody));
    OK(cuModuleLoadDataEx(&again, text, 2, options, values));
    OK(cuModuleGetGlobal_v2(&variable, &bytes, again, "table"));
    EXPECT(bytes == 16);
    const int table[] = {11, 22, 33, 44};
    OK(cuMemcpyHtoD_v2(variable, table, sizeof table));
    void *args[] = {&out};
    handle look_up = function(again, "look_up"), reverse = function(again, "reverse");
    OK(launch(look_up, 1, 8, NULL, args));
    OK(cuLaunchKernel(reverse, 1, 1, 1, 8, 1, 1, 32, NULL, args, NULL));
    EXPECT(word(out, 0) == 44 && word(out, 3) == 11 && word(out, 7) == 11);
    OK(cuFuncGetName(&name, reverse));
    EXPECT(strcmp(name, "reverse") == 0);
    OK(cuFuncGetAttribute(&threads, 0, reverse));
    EXPECT(threads == 1024);
    OK(cuFuncSetAttribute(reverse, 8, 32 << 10));
    OK(cuFuncGetParamInfo(function(again, "scale"), 2, &at, &bytes));
    EXPECT(at == 12 && bytes == 4);
    GIVES(1, cuFuncGetParamInfo(reverse, 1, &at, &bytes));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 1024, 0));
    EXPECT(blocks >= 1);
    libraries(argv, text);
    logs(text);
    OK(cuModuleUnload(again));
    OK(cuModuleUnload(module));
    return 0;
}
