/* The ranks of an MPI job (sweep/ranks.h) over MPI 2. One thread calls it. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/ranks.h"

#define TAG 1
#define BYTES_MAX (1u << 30)

/* A text on its way: it stays until the library has taken it over. */
struct parcel {
    struct parcel *next;
    MPI_Request request;
    char text[];
};

static struct parcel *parcels;

static int open_ranks(struct sweep_ranks *ranks)
{
    int provided;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        return 1;
    }
    return MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank) != MPI_SUCCESS ||
           MPI_Comm_size(MPI_COMM_WORLD, &ranks->size) != MPI_SUCCESS;
}

static int broadcast(char **text, size_t *bytes)
{
    int rank;
    unsigned long long length = *bytes;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
        length > BYTES_MAX) {
        return 1;
    }
    if (rank > 0) {
        *bytes = (size_t)length;
        *text = calloc(length + 1, 1);
    }
    return !*text || MPI_Bcast(*text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
}

static void free_taken(void)
{
    for (struct parcel **at = &parcels; *at;) {
        int taken = 0;
        if (MPI_Test(&(*at)->request, &taken, MPI_STATUS_IGNORE) != MPI_SUCCESS || !taken) {
            at = &(*at)->next;
            continue;
        }
        struct parcel *gone = *at;
        *at = gone->next;
        free(gone);
    }
}

static int send(int to, const char *text, size_t bytes)
{
    free_taken();
    struct parcel *parcel = bytes <= BYTES_MAX ? malloc(sizeof *parcel + bytes) : NULL;
    if (!parcel) {
        return 1;
    }
    memcpy(parcel->text, text, bytes);
    /* Its request is tested in free_taken() and waited for in close_ranks(). */
    /* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
    if (MPI_Isend(parcel->text, (int)bytes, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &parcel->request) !=
        MPI_SUCCESS) {
        free(parcel);
        return 1;
    }
    /* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */
    parcel->next = parcels;
    parcels = parcel;
    return 0;
}

static int receive(int *from, char **text, size_t *bytes)
{
    MPI_Status status;
    int there = 0, count = 0;
    *from = -1;
    *text = NULL;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS) {
        return 1;
    }
    if (!there) {
        return 0;
    }
    if (MPI_Get_count(&status, MPI_CHAR, &count) != MPI_SUCCESS || count < 0) {
        return 1;
    }
    *text = calloc((size_t)count + 1, 1);
    *bytes = (size_t)count;
    *from = status.MPI_SOURCE;
    return !*text || MPI_Recv(*text, count, MPI_CHAR, status.MPI_SOURCE, TAG, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

static int close_ranks(void)
{
    while (parcels) {
        struct parcel *parcel = parcels;
        /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): of send() */
        if (MPI_Wait(&parcel->request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return 1;
        }
        parcels = parcel->next;
        free(parcel);
    }
    return MPI_Finalize() != MPI_SUCCESS;
}

static void abort_ranks(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* SWEEP_RANKS_SYMBOL */
__attribute__((visibility("default"))) struct sweep_ranks sonde_ranks = {.open = open_ranks,
                                                                         .broadcast = broadcast,
                                                                         .send = send,
                                                                         .receive = receive,
                                                                         .close = close_ranks,
                                                                         .abort = abort_ranks};
