/**
 * @file sonde.h
 * Sonde's public interface. Handles are opaque; functions return 0 or a negative SONDE_E... code,
 * and the text of the last failure on this thread is sonde_error_last(). `make api-docs` makes a
 * reference of these comments.
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- errors and texts: what every call has in common ---- */

/** One row per error code: name, value, what it means. The values are part of the ABI. */
#define SONDE_ERRORS(X)                                                                            \
    X(SONDE_ENOMEM, -1, "out of memory")                                                           \
    X(SONDE_EINPUT, -2, "bad input")                                                               \
    X(SONDE_EDEVICE, -3, "the device is not available")                                            \
    X(SONDE_EIO, -4, "reading or writing a file failed")                                           \
    X(SONDE_EUNSUPPORTED, -5, "not supported")                                                     \
    X(SONDE_EFAULT, -6, "the program on the device faulted")                                       \
    X(SONDE_EUSAGE, -7, "wrong usage")                                                             \
    X(SONDE_ENOTRECORDED, -8, "not recorded")                                                      \
    X(SONDE_EINTERRUPTED, -9, "interrupted")                                                       \
    X(SONDE_EINTERNAL, -10, "internal error")

/** What functions return. */
enum sonde_error {
    SONDE_OK = 0, /**< it went well */
#define SONDE_ERROR_VALUE(name, value, text) name = value,
    SONDE_ERRORS(SONDE_ERROR_VALUE)
#undef SONDE_ERROR_VALUE
};

/** The library's version, "0.1.0". */
const char *sonde_version(void);

/** The text of this thread's last failure; "" when there was none. Valid until the next call that
 * fails. */
const char *sonde_error_last(void);

/** Frees a text that a function of this header handed out. NULL is allowed. */
void sonde_free(void *text);

/** Writes text to a file, "-" for standard output: whole or not at all (temporary file, rename).
 * SONDE_EIO. */
int sonde_write(const char *path, const char *text);

/**
 * Long work reports where it stands (0.0 to 1.0, and what it is doing) and stops when *cancel
 * becomes non-zero, with SONDE_EINTERRUPTED. Either member may be NULL.
 */
struct sonde_watch {
    void (*progress)(void *ctx, double fraction, const char *what); /**< called now and then */
    void *ctx;                                                      /**< handed to `progress` */
    const volatile int *cancel; /**< a signal handler may set it */
};

/* ---- devices: "sim:NAME", "sim:PATH.yaml", "cuda:N", "replay:FILE" (docs/man/sonde.1) ---- */

/** A device that can be measured. */
struct sonde_device;

/** Opens a device by its name. SONDE_EDEVICE: not there, with the reason. SONDE_EINPUT: bad or
 * unreadable model or recording. SONDE_EUSAGE: no such kind of name. */
int sonde_device_open(struct sonde_device **out, const char *spec);
/** Closes a device. NULL is allowed. */
void sonde_device_close(struct sonde_device *device);

/** What is here, as a table for people. */
int sonde_devices_table(char **text);
/** The same as JSON. */
int sonde_devices_json(char **text);

/* ---- dissecting: a memory hierarchy by measurement ---- */

/** What is known of a device's memory hierarchy. */
struct sonde_dissection;

/** How long a simulated device may be measured: a quarter of normal, normal, four times normal. A
 * real one takes what it takes. */
enum sonde_effort {
    SONDE_EFFORT_NORMAL,  /**< normal */
    SONDE_EFFORT_QUICK,   /**< a quarter of it */
    SONDE_EFFORT_THOROUGH /**< four times as long */
};

/** How to dissect; all zero is a choice, too. */
struct sonde_dissect_options {
    const char *only;         /**< these comma-separated experiments alone, NULL: all */
    const char *skip;         /**< not these comma-separated experiments, NULL: none */
    const char *record;       /**< write every measurement to this recording, NULL: do not */
    uint64_t seed;            /**< of the visiting orders that are random */
    struct sonde_watch watch; /**< how far it is, and whether to stop */
    enum sonde_effort effort; /**< how long to measure */
};

/**
 * Run probes on the device and infer its memory hierarchy from what they measured. When
 * interrupted, a recording that was asked for is still written with all measured so far. A
 * recording that cannot be written is an error, but the result is handed out; else *out is NULL on
 * errors.
 */
int sonde_dissect(struct sonde_dissection **out, struct sonde_device *device,
                  const struct sonde_dissect_options *options);

/** Inference alone, over a recording. */
int sonde_infer(struct sonde_dissection **out, const char *path,
                const struct sonde_dissect_options *options);
/** Frees a dissection. NULL is allowed. */
void sonde_dissection_destroy(struct sonde_dissection *dissection);

/** What sonde_dissection_table() writes beside the essentials. */
enum sonde_table_flags {
    SONDE_TABLE_COLOUR = 1,  /**< escape sequences for a terminal */
    SONDE_TABLE_EVIDENCE = 2 /**< each value's confidence, reasons and evidence */
};

/** The dissection as a table for people (`flags` of enum sonde_table_flags; without
 * SONDE_TABLE_EVIDENCE the essentials on one screen). */
int sonde_dissection_table(char **text, const struct sonde_dissection *dissection, unsigned flags);
/** The dissection as JSON by docs/dissection.schema.json. */
int sonde_dissection_json(char **text, const struct sonde_dissection *dissection);

/** What an attribute of a dissection is ("size", "l2.policy", "tlb"), how it is found and what can
 * fool it, in lines of 80 columns; NULL: the names of all. SONDE_EUSAGE: there is none. */
int sonde_explain(char **text, const char *name);

/** The experiments that `only` and `skip` name, one a line with what each does. */
int sonde_experiments(char **text);

/* ---- probes: raw measurements ---- */

/** The probes with their parameters, for people. */
int sonde_probe_list(char **text);
/** One of them, or all (NULL), with the columns that it returns. SONDE_EUSAGE: there is none. */
int sonde_probe_describe(char **text, const char *name);

/** Run one probe; `settings` are "key=value" texts. Result: CSV with a header line. */
int sonde_probe(char **csv, struct sonde_device *device, const char *name,
                const char *const *settings, size_t setting_count, const struct sonde_watch *watch);

/* ---- models: the files behind "sim:" ---- */

/** The shipped models, one a line. */
int sonde_model_list(char **text);
/** A model by name or path, every parameter written out. */
int sonde_model_show(char **yaml, const char *name);
/** SONDE_EINPUT with all that is wrong in a model file, a line each. */
int sonde_model_check(const char *path);
/** The same; *note is a line on what is no mistake and yet worth a look, or empty. */
int sonde_model_check_note(char **note, const char *path);
/** Every parameter that a model may have: unit, default, range, meaning. */
int sonde_model_params(char **text);
/** Those of a section ("l2", "sm.lsu"), or the one of that path; NULL: all. SONDE_EUSAGE: there is
 * none. */
int sonde_model_params_of(char **text, const char *section);

/* ---- studies: what a paper prints beside what is measured ---- */

/** A study's rows with what was measured. */
struct sonde_study;

/** What of a study to measure, and on what; all zero is all of it. */
struct sonde_study_options {
    /** Comma-separated row ids or their beginnings up to a dot; NULL: all. */
    const char *only;
    /** "ROLE=DEVICE": measure on another device than the study names. */
    const char *const *devices;
    size_t device_count;      /**< of `devices` */
    const char *const *sizes; /**< "PROGRAM=SIZE[xDEPTH]": run a program at another size */
    size_t size_count;        /**< of `sizes` */
    const char *kernels;      /**< comma-separated names or their beginnings; NULL: all */
    int quick; /**< only the first size of each kernel; programs at their quick sizes */
    /** Programs that run at a time, each a process, on each rank of an MPI job; 0: one after the
     * other, in this process. */
    uint32_t jobs;
    /** Take over what `folder` holds of an earlier run: with jobs its programs, and its kernels. */
    int resume;
    int without_set_aside; /**< nothing of the kernels that are set aside */
    const char *folder; /**< figures go there (CSV, and drawn by gnuplot where it is); NULL: none */
    uint64_t seed;      /**< of the visiting orders that are random */
    struct sonde_watch watch; /**< how far it is, and whether to stop */
};

/** The shipped studies, one a line with its title. */
int sonde_study_list(char **text);
/** A study's rows: what each is, its published value, unit and tolerance. SONDE_EUSAGE: no such
 * study. */
int sonde_study_describe(char **text, const char *name);
/** The names of the shipped studies, "a, b", cut to `size` bytes. */
void sonde_study_names(char *out, size_t size);
/**
 * Measures what a study's rows say. SONDE_EUSAGE: no such study, row or role. A row that fails is
 * no error. When the work ends early, interrupted or because a figure cannot be written, the error
 * is returned and the rows measured so far are handed out; else *out is NULL on errors.
 */
int sonde_study(struct sonde_study **out, const char *name,
                const struct sonde_study_options *options);
/** Frees a study. NULL is allowed. */
void sonde_study_destroy(struct sonde_study *study);
/** A rank of an MPI job that has only run programs for another: nothing to tell. */
int sonde_study_idle(const struct sonde_study *study);
/** How many rows do not hold. */
size_t sonde_study_failures(const struct sonde_study *study);
/** The rows for people: published beside measured. */
int sonde_study_table(char **text, const struct sonde_study *study);
/** The rows as JSON, which sonde_report() takes. */
int sonde_study_json(char **text, const struct sonde_study *study);
/** A line for each figure that could not be measured or drawn; "" when there is none. Borrowed. */
const char *sonde_study_notes(const struct sonde_study *study);

/* ---- dissections that were kept as JSON ---- */

/** The formats that sonde_export() knows, one a line with what it is. */
int sonde_export_formats(char **text);
/** A dissection in a format. `base`: the model that fills in what was not measured (format sonde);
 * NULL: the shipped one of the nearest compute capability. SONDE_EUSAGE: there is no such format.
 */
int sonde_export(char **text, const char *path, const char *format, const char *base);

/** How far two dissections may be apart, and what to tell. */
struct sonde_compare_options {
    double cycles;  /**< latencies may differ by so much */
    double percent; /**< bandwidths by so much of the larger */
    int all;        /**< list what agrees, too */
    int json;       /**< as JSON, not as a table */
};
/** Two dissections, attribute by attribute. `*differences`: attributes that differ, or that one
 * alone has measured. */
int sonde_compare(char **text, size_t *differences, const char *a, const char *b,
                  const struct sonde_compare_options *options);

/* ---- running kernels of a PTX file: on a simulated device, or "cuda:N" ---- */

/** A launch behind the first one, in the same program, on the same buffers. */
struct sonde_exec_launch {
    const char *kernel;            /**< NULL: the only one */
    uint32_t grid[3];              /**< blocks, x y z */
    uint32_t block[3];             /**< threads of a block, x y z */
    uint32_t dynamic_shared_bytes; /**< beside what the kernel declares */
    /** As of the first launch; "same:NAME" passes a buffer of an earlier one. */
    const char *const *args;
    size_t arg_count; /**< of `args` */
    int cooperative;  /**< blocks may wait for each other */
};

/** What to run, on what, and what to tell of it. */
struct sonde_exec_options {
    const char *ptx_path;          /**< the file with the kernel */
    const char *const *link_paths; /**< more PTX files, which are linked with the first */
    size_t link_count;             /**< of `link_paths` */
    const char *kernel;            /**< NULL: the only one */
    uint32_t grid[3];              /**< blocks, x y z */
    uint32_t block[3];             /**< threads of a block, x y z */
    uint32_t dynamic_shared_bytes; /**< beside what the kernel declares */
    /** One specification a parameter: "u32:7", "f32:1.5", "zero:BYTES", "A=random:f32:1024",
     * "same:A", "out:PATH:BYTES"; docs/man/sonde-exec.1 has them all. */
    const char *const *args;
    size_t arg_count;         /**< of `args` */
    int functional;           /**< no timing */
    struct sonde_watch watch; /**< how far it is, and whether to stop */
    /** What kernels print, handed over when the launch ends, also when it faults; NULL: thrown
     * away. The bytes are the program's own: not terminated, and not made printable. */
    void (*print)(void *ctx, const char *text, size_t bytes);
    void *print_ctx;       /**< handed to `print` */
    int cooperative;       /**< blocks may wait for each other; all must fit the device at once */
    uint64_t printf_bytes; /**< of printf's buffer; 0: 1 MiB */
    uint64_t heap_bytes;   /**< of malloc's heap; 0: 8 MiB */
    /** Statistics of a timed launch go to this file as JSON; NULL: nowhere. */
    const char *stats_path;
    uint32_t threads;    /**< of the host, for a launch; the results are the same. 0: one */
    uint64_t max_cycles; /**< a timed launch that takes more is a fault; 0: no limit */
    int any_target;      /**< take PTX whose .target the model's compute capability does not run */
    const struct sonde_exec_launch *then; /**< further launches, in order */
    size_t then_count;                    /**< of `then` */
    const char *const *prints; /**< "NAME[:TYPE[:COUNT]]": buffers handed to `print` at the end */
    size_t print_count;        /**< of `prints` */
    /** Memory checker (no timing): the format of its report, "text", "json" or "junit"; NULL: it
     * does not run. */
    const char *check;
    const char *suppress; /**< comma-separated kinds of report that are not wanted; NULL: none */
    char **report;        /**< the checker's report; sonde_free() it */
    /** What the checker found. A fault of a kernel stands there and is no error. */
    size_t *reports;
    /** Profile (timing alone): what warps waited for, by line, as "text", "json" or "html"; NULL:
     * none. */
    const char *profile;
    char **profile_report; /**< the profile; sonde_free() it */
    /** A time line in the Chrome trace format goes to this file; NULL: nowhere. */
    const char *timeline_path;
    int cold;    /**< caches and TLBs are emptied before each timed launch */
    int summary; /**< behind each timed launch's counters what they say of it, for people */
};

/** Runs kernels. `text`: cycles and counters, a line each. SONDE_EINPUT: the PTX, its target, or
 * more memory than the device has. SONDE_EFAULT with place and reason when the kernel faults. */
int sonde_exec(char **text, const char *device_spec, const struct sonde_exec_options *options);

/* ---- what was kept as JSON, for people ---- */

/** The hierarchy of a dissection as text, `columns` wide (at least 40), with escape sequences for
 * colours, with characters of UTF-8. */
int sonde_topology(char **text, const char *json_path, int columns, int colour, int utf8);
/** One HTML file that needs nothing else, of a dissection, a study, a sweep's table, statistics or
 * a profile. */
int sonde_report(char **html, const char *json_path);
/** Room for the name of a figure. */
#define SONDE_FIGURE_NAME 48
/** A dissection's figure `index`, from 0, as an SVG file, and what to call it ("l2-footprint");
 * *svg is NULL past the last. */
int sonde_figure(char **svg, char name[SONDE_FIGURE_NAME], const char *json_path, size_t index);

/* ---- workloads: whole programs that come with Sonde ---- */

/** Which program, and how large; zero is the workload's own. */
struct sonde_workload_options {
    const char *name;       /**< one of sonde_workload_list() */
    uint32_t size;          /**< 0: the size of a quick run; what it counts is the workload's own */
    uint32_t block;         /**< threads of a block; SONDE_EUSAGE where it has none to set */
    uint32_t depth;         /**< levels, iterations, ...; SONDE_EUSAGE where it has none to set */
    int functional;         /**< no timing */
    const char *stats_path; /**< statistics of all launches as JSON; NULL: nowhere */
    uint32_t threads;       /**< of the host; the results are the same. 0: one */
    struct sonde_watch watch; /**< how far it is, and whether to stop */
};

/** The workloads with their sizes, targets and devices, a line each. */
int sonde_workload_list(char **text);
/** Runs a workload and holds its result against the host's. `device_spec`: NULL is the workload's
 * own, a model that has its target. SONDE_EINPUT for a target that the model does not have, but for
 * sm_75. `text`: launches, cycles and instructions; on cuda:N launches and their time. A result
 * that differs from the host's is SONDE_EINTERNAL with the element. */
int sonde_workload(char **text, const char *device_spec,
                   const struct sonde_workload_options *options);

/* ---- sweeps: many points, one table (docs/man/sonde-sweep.1) ---- */

/** Where a sweep's points run, and where its table goes. */
struct sonde_sweep_options {
    const char *folder;       /**< table.csv, table.json, points.jsonl go there; made if need be */
    const char *program;      /**< the sonde command that points run; NULL: this process's own */
    uint32_t jobs;            /**< points at a time on each rank; 0: one */
    int resume;               /**< go on with what the folder holds */
    int retry;                /**< try again what did not end well */
    struct sonde_watch watch; /**< how far it is, and whether to stop */
};

/** Runs a sweep. `text`: a summary; "" on ranks of an MPI job other than 0. *not_ok counts the
 * points that did not end well, which is no error. Interrupted, the rows that there are stand in
 * the table. */
int sonde_sweep(char **text, size_t *not_ok, const char *spec_path,
                const struct sonde_sweep_options *options);
/** The points, a line each, without running them. */
int sonde_sweep_list(char **text, const char *spec_path);
/** Column y over column x of a sweep's folder, drawn there; `by` and `where` may be NULL. */
int sonde_sweep_plot(char **text, const char *folder, const char *x, const char *y, const char *by,
                     const char *where);
/** The rows that no other beats, "min:cycles,max:ipc", as CSV. */
int sonde_sweep_pareto(char **text, const char *folder, const char *goals);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
