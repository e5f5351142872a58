/*
 * The ranks of an MPI job. Sonde does not link MPI: where it was found when this was built, a
 * module of its own (mpi/) does, and is loaded only under a launcher such as mpirun. Texts go
 * between ranks; nobody waits in a call, so a rank looks after its processes meanwhile.
 */
#ifndef SONDE_SWEEP_RANKS_H
#define SONDE_SWEEP_RANKS_H

#include <stdbool.h>
#include <stddef.h>

/* What the module gives: one symbol, `sonde_ranks`. All but `open` return 0, or nonzero on failure.
 */
struct sweep_ranks {
    int rank, size;
    int (*open)(struct sweep_ranks *ranks);       /* fills rank and size */
    int (*broadcast)(char **text, size_t *bytes); /* from rank 0; others get a copy, free() it */
    int (*send)(int to, const char *text, size_t bytes); /* returns before it was received */
    /* The next text, free() it; *from -1: none has come. */
    int (*receive)(int *from, char **text, size_t *bytes);
    int (*close)(void);  /* waits for all ranks */
    void (*abort)(void); /* ends all ranks */
};

#define SWEEP_RANKS_SYMBOL "sonde_ranks"

/* Whether a launcher such as mpirun has started this process as one of several ranks. */
bool sweep_ranks_launched(void);
/* NULL in *out: not under a launcher. SONDE_EDEVICE: under one, but the module is not there. */
int sweep_ranks_open(struct sweep_ranks **out);

#endif
