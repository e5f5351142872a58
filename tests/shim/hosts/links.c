/* Two units become one; what is nowhere, or is there twice, is told. */
#include "host.h"

int cuLinkCreate_v2(unsigned, const int *, void **, handle *);
int cuLinkAddFile_v2(handle, int, const char *, unsigned, const int *, void **);
int cuLinkAddData_v2(handle, int, void *, size_t, const char *, unsigned, const int *, void **);
int cuLinkComplete(handle, void **, size_t *);
int cuLinkDestroy(handle);
int cuModuleLoadData(handle *, const void *);
int cuModuleGetGlobal_v2(address *, size_t *, handle, const char *);

enum { PTX = 1 };

int main(int argc, char **argv)
{
    static char more[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                         ".visible .entry other(.param .u64 p) { ret; }\n";
    static char junk[] = "no code", broken[] = ".version 7.0\n.target sm_70\nnonsense;\n";
    handle none = argc == 2 ? begin(argv, NULL) : NULL, link, module;
    int options[] = {5, 6};
    char errors[200] = "untouched";
    void *image, *values[] = {errors, (void *)sizeof errors};
    size_t bytes;
    address calls, p = take(32);
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddFile_v2(link, PTX, path_of(argv, "caller.ptx"), 0, NULL, NULL));
    OK(cuLinkAddFile_v2(link, PTX, path_of(argv, "callee.ptx"), 0, NULL, NULL));
    OK(cuLinkAddData_v2(link, PTX, more, sizeof more, "more", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &bytes));
    EXPECT(image && bytes > 0);
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
    void *args[] = {&p};
    OK(launch(function(module, "use_twice"), 1, 32, NULL, args));
    OK(launch(function(module, "other"), 1, 32, NULL, args));
    OK(cuCtxSynchronize());
    EXPECT(word(p, 0) == 2 && word(p, 31) == 2);
    OK(cuModuleGetGlobal_v2(&calls, &bytes, module, "calls"));
    EXPECT(bytes == 4 && word(calls, 0) == 32);
    OK(cuLinkCreate_v2(2, options, values, &link));
    EXPECT(!*errors && !values[1]);
    OK(cuLinkAddFile_v2(link, PTX, path_of(argv, "caller.ptx"), 0, NULL, NULL));
    int code = cuLinkComplete(link, &image, &bytes); /* twice() is nowhere */
    EXPECT(code != 0 && strstr(errors, "calls") && (size_t)values[1] == strlen(errors));
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    GIVES(200, cuLinkAddData_v2(link, PTX, junk, sizeof junk, "junk", 0, NULL, NULL));
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    GIVES(218, cuLinkAddData_v2(link, PTX, broken, sizeof broken, "broken", 0, NULL, NULL));
    OK(cuLinkDestroy(link));
    return none != NULL;
}
