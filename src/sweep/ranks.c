/* Finds and loads the MPI module. See ranks.h. */
#include "sweep/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sonde/sonde.h"
#include "util/error.h"

/* How launchers tell a rank that it is one, and of how many: Open MPI, and those that speak PMI
 * (MPICH, Slurm). One alone of the two has been left over from elsewhere. */
static const struct {
    const char *rank, *size;
} told[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};

static bool is_several(const char *size)
{
    return strtoul(size, NULL, 10) > 1;
}

bool sweep_ranks_launched(void)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *size = getenv(told[i].size);
        if (size && getenv(told[i].rank)) {
            return is_several(size);
        }
    }
    /* PMIx tells no size; Slurm does. */
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    bool of_pmix = getenv("PMIX_RANK") && getenv("PMIX_NAMESPACE");
    return of_pmix && (!tasks || is_several(tasks));
}

/* The module lies beside the command where it was built, and in lib/sonde where it is installed. */
static void *load(void)
{
    static const char *const places[] = {"sonde_mpi.so", SONDE_MODULE_RELATIVE "/sonde_mpi.so"};
    char program[3072], path[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash) {
        return NULL;
    }
    *slash = '\0';
    void *module = NULL;
    for (size_t i = 0; !module && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", program, places[i]);
        module = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    }
    return module;
}

int sweep_ranks_open(struct sweep_ranks **out)
{
    *out = NULL;
    if (!sweep_ranks_launched()) {
        return 0;
    }
    void *module = load();
    struct sweep_ranks *ranks = module ? dlsym(module, SWEEP_RANKS_SYMBOL) : NULL;
    if (!ranks) {
        const char *why = module ? "it has no ranks" : dlerror();
        return error_set(SONDE_EDEVICE,
                         "this runs as a rank of an MPI job, but sonde's MPI module cannot be "
                         "loaded: %s",
                         why ? why : "it was not built (was MPI there?)");
    }
    if (ranks->open(ranks) != 0) {
        return error_set(SONDE_EDEVICE, "MPI cannot be initialised");
    }
    *out = ranks;
    return 0;
}
