/*
 * A study: what a paper prints, row by row, beside what is measured on devices. The rows are a YAML
 * file (studies/NAME/study.yaml, embedded): published value, tolerance, and how it is measured, one
 * of the ways that measures.def lists. A row that contradicts itself in the paper has several
 * readings; it holds when one of them does. What could not be measured has failed, with its reason:
 * nothing is left out in silence.
 *
 * Order of calls: study_load, study_select, study_device (both optional), study_run, then the
 * outputs (result.c, figure.c), study_destroy.
 */
#ifndef SONDE_STUDY_STUDY_H
#define SONDE_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/sonde.h"
#include "study/value.h"
#include "util/container/vec.h"

struct arena;
struct yaml_node;

#define STUDY_MAX_DEVICES 40
#define STUDY_MAX_READINGS 4

struct study_reading {
    const char *text; /* NULL: the row has one reading only */
    size_t device;    /* the row's, unless the reading names another */
    struct study_value published, measured;
    const struct yaml_node *measure;
    bool literal; /* takes the paper's words as they stand */
    bool holds;
};

/* What became of a row. */
enum study_verdict {
    STUDY_OK,            /* it holds as the paper says it */
    STUDY_OTHER_READING, /* it holds, but only by a reading that is not the literal one */
    STUDY_FAIL,
    STUDY_NOT_REACHED, /* the work ended before */
    STUDY_VERDICTS
};

/* What a row that holds shows. */
enum study_basis {
    STUDY_INPUT, /* the study's model was set to the number: the simulator gives back what it was
                    told */
    STUDY_PREDICTION, /* the number follows from others, or from a mechanism */
    STUDY_ELSEWHERE,  /* neither: the device was given in place of the study's */
    STUDY_BASES
};

struct study_row {
    const char *id, *what, *unit; /* unit may be "" */
    const char *note;             /* why it does not hold; NULL */
    size_t device;                /* index into study->devices */
    struct study_value published; /* as printed; a reading may stand for another number */
    struct study_tolerance tolerance;
    enum study_basis basis; /* on the study's own devices */
    bool any_order;         /* of a list's numbers */
    struct study_reading readings[STUDY_MAX_READINGS];
    size_t reading_count;
    size_t shown; /* the reading that holds, or the first */
    bool selected, done, ok;
};

/* A role that a device plays in the paper, "fermi". */
struct study_role {
    const char *name;
    char spec[4200];
    const char *model; /* the role is a model that the study itself describes, as YAML; or NULL */
    bool given;        /* by study_device, in place of the study's */
};

/* A whole program (workloads/) with its sizes, as the rows call it. */
struct study_program {
    const char *name, *workload;
    uint32_t size, block, depth;      /* 0: as the workload has it */
    uint32_t quick_size, quick_depth; /* of a quick run; 0: as otherwise */
    uint32_t cost;                    /* what a run takes, in any unit: the dearest begins first */
};

/* What the paper says and nothing here can tell, with the reason. */
struct study_untested {
    const char *id, *what, *why;
};

struct study {
    struct arena *arena;
    const char *name, *title;
    const char *experiments; /* of a blind dissection; NULL: all */
    struct study_role devices[STUDY_MAX_DEVICES];
    size_t device_count;
    struct study_program *programs;
    size_t program_count;
    struct study_untested *untested;
    size_t untested_count;
    struct study_row *rows;
    size_t row_count;
    const char *only;          /* as given to study_select */
    const char *kernels;       /* as given to study_kernels */
    const char *kernel_folder; /* as given to study_keep_kernels */
    bool quick, resume;
};

/* The shipped studies; NULL past the last. */
const char *study_name(size_t i);

/* SONDE_EUSAGE: no such study (the text names the nearest). */
int study_load(struct study **out, const char *name);
/* The same from a text; `file` stands in messages. SONDE_EINPUT with the place. */
int study_parse(struct study **out, const char *file, const char *text, size_t length);
void study_destroy(struct study *study); /* NULL is allowed */

/*
 * Only these rows, comma-separated: an id, or the beginning of ids up to a dot ("t4.fermi"). NULL:
 * all. SONDE_EUSAGE for one that names nothing.
 */
int study_select(struct study *study, const char *only);
/* Whether `only` asks for something called `id` or beginning with it. */
bool study_wants(const struct study *study, const char *id);

/* "ROLE=DEVICE": measure on another device. SONDE_EUSAGE. */
int study_device(struct study *study, const char *setting);

/* "PROGRAM=SIZE" or "PROGRAM=SIZExDEPTH": run it at another size. SONDE_EUSAGE. */
int study_size(struct study *study, const char *setting);

/* Every program at its quick size. SONDE_EUSAGE: the study has no programs. */
int study_quick(struct study *study);

/*
 * Of kernels only these, comma-separated names or their beginnings (NULL: all); quick: only the
 * first size of each. SONDE_EUSAGE: the study has no kernels, or none of that name.
 */
int study_kernels(struct study *study, const char *names, bool quick);
/*
 * Each launch of a kernel is kept in FOLDER/kernels.jsonl as soon as it has ended; `resume`: what
 * is there of the same model and version is taken over. SONDE_EUSAGE: to resume without a folder.
 */
int study_keep_kernels(struct study *study, const char *folder, bool resume);
/* No rows of kernels that are set aside. SONDE_EUSAGE: there are no others. */
int study_leave_set_aside(struct study *study);

struct study_bench;
/* Measures the selected rows. An error is one that ends the work; a row that fails is none. */
int study_run(struct study *study, struct study_bench *bench);
/* Selected rows that were measured before the work ended; those of them that do not hold. */
size_t study_done(const struct study *study);
enum study_verdict study_verdict(const struct study_row *row);
enum study_basis study_basis(const struct study *study, const struct study_row *row);
size_t study_failures(const struct study *study);

/* ---- result.c: free() the texts ---- */

int study_table(char **text, const struct study *study);
int study_json(char **text, const struct study *study);
/* What each row is, before any is measured: published value, unit, tolerance, basis. */
int study_describe(char **text, const struct study *study);

/* ---- figure.c ---- */

/*
 * Runs, before study_run, all programs that the selected rows - and figures, where there is a
 * `folder` - ask for, as points of a sweep (src/sweep): `jobs` processes of the command `program`,
 * or more on the ranks of an MPI job, of which all but rank 0 have nothing to do afterwards
 * (*idle). Models, statistics and journal go to `folder`, or for the time to a scratch folder;
 * `resume` goes on with the journal that is there. A point that fails is run again where a row asks
 * for it, and told there.
 */
struct study_points {
    const char *program, *folder;
    unsigned jobs;
    bool resume;
};
/* Whether it runs on the ranks of an MPI job: all of them call study_run_points(). */
bool study_is_spread(void);
int study_run_points(bool *idle, struct study *study, struct study_bench *bench,
                     const struct study_points *how);

/* Writes the statistics of the programs that have run as FOLDER/ROLE.PROGRAM.json. */
int study_program_files(struct study_bench *bench, const char *folder);

/* Writes what kernels took as FOLDER/kernels.tsv. */
int study_kernel_files(struct study_bench *bench, const char *folder);

/* Writes the selected figures' data (CSV) into a folder, and draws them with gnuplot. `notes`
 * says a line for each that could not be measured or drawn; free() it. */
int study_figures(char **notes, const struct study *study, struct study_bench *bench,
                  const char *folder);

#endif
