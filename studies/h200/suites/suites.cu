// suites LIST prints the cases' names; suites NAME small|large launches one kernel once and checks
// what it left: status 1 where that is not the host's. suites EMPTY launches a kernel that does
// nothing: what a launch takes by itself (compare.sh).
//
// All files are compiled as one, so that constant memory is laid out as it was when a card was
// asked (recorded.tsv): the kernels are the same to the bit.
#include <cstring>
#include "host.h"
#include "grids.cu"
#include "points.cu"
#include "polybench.cu"
#include "shoc.cu"
#include "parboil.cu"
#include "samples.cu"

static const Case *const families[] = {grid_cases, point_cases,   polybench_cases,
                                       shoc_cases, parboil_cases, sample_cases};

__global__ void empty()
{
}

static void list()
{
    for (const Case *family : families) {
        for (const Case *one = family; one->name; one++) {
            puts(one->name);
        }
    }
}

static const Case *find(const char *name)
{
    for (const Case *family : families) {
        for (const Case *one = family; one->name; one++) {
            if (strcmp(one->name, name) == 0) {
                return one;
            }
        }
    }
    return nullptr;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "LIST") == 0) {
        list();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "EMPTY") == 0) {
        empty<<<1, 256>>>();
        finish();
        return 0;
    }
    const Case *one = argc == 3 ? find(argv[1]) : nullptr;
    bool large = argc == 3 && strcmp(argv[2], "large") == 0;
    if (!one || (!large && strcmp(argv[2], "small") != 0)) {
        fprintf(stderr, "usage: suites LIST | suites EMPTY | suites NAME small|large\n");
        return 2;
    }
    one->run(large);
    return bad;
}
