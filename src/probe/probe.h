/*
 * Probes: kernels in PTX plus the host code that lays out memory, launches, and returns raw
 * columns. A probe interprets nothing. probes.def lists each with its parameters (name, default,
 * range, doc); requests are checked against that list. The live source runs requests on a device
 * and keeps every trace in a set.
 */
#ifndef SONDE_PROBE_PROBE_H
#define SONDE_PROBE_PROBE_H

#include "device/device.h"
#include "trace/source.h"

struct probe_live;

/*
 * The set outlives the source's use; every measurement is added to it under the request as it was
 * asked, and answers the same request from then on. Also adds the kernels' hashes and the defaults
 * (notes). Runs stop with SONDE_EINTERRUPTED when device->cancel says so.
 */
int probe_live_create(struct probe_live **out, struct device *device, struct traceset *set);
/* Also frees the device's memory; NULL is allowed. */
void probe_live_destroy(struct probe_live *live);
struct trace_source probe_live_source(struct probe_live *live);
/*
 * From now on requests are refused (SONDE_EUNSUPPORTED in their traces) that would take the
 * device's work beyond `work` more than it has done; 0: no limit. The last part of that is kept for
 * requests of few loads. Only devices that count their work are limited, and those the same way
 * every time.
 */
void probe_live_limit(struct probe_live *live, uint64_t work);
/* For a whole dissection: up to 25 s of a core. sim:h200 takes 18.5 and has its second TLB told. */
#define PROBE_DISSECTION_WORK UINT64_C(18500000)
/* Of that, for the structure of the caches. */
#define PROBE_CACHE_LOADS UINT64_C(26000000)

/* Limits for infer_options, from the device's hard limits. */
uint32_t probe_live_max_window(const struct probe_live *live);
uint64_t probe_live_max_footprint(const struct probe_live *live);
/* The same from the numbers themselves, as a recording has them. */
uint32_t probe_window_limit(uint64_t shared_per_block_bytes);
uint64_t probe_footprint_limit(uint64_t memory_bytes);
/* The largest footprint with pages=mapped: most of the memory. */
uint64_t probe_mapped_limit(uint64_t memory_bytes);

struct probe_param_info {
    const char *name, *def, *range, *doc;
};

/* A column of the probe's traces. */
struct probe_column_info {
    const char *name, *type; /* "u32" or "f64" */
    const char *unit;
    const char *count; /* how many values, for people: "windows x window" */
    const char *doc;
};

struct probe_info {
    const char *name, *doc;
    const struct probe_param_info *params;
    size_t param_count;
    const struct probe_column_info *columns;
    size_t column_count;
};

size_t probe_count(void);
const struct probe_info *probe_at(size_t i);
const struct probe_info *probe_find(const char *name); /* NULL: none */
int probe_unknown(const char *name); /* SONDE_EUSAGE: there is none of that name; the nearest one */

/* Fill defaults, check names and ranges: SONDE_EUSAGE with the reason and the nearest name. */
int probe_request_complete(struct trace_request *request);

/* The trace in a recording whose request means the same, defaults filled in; SONDE_ENOTRECORDED. */
int probe_find_recorded(const struct trace **out, const struct traceset *set,
                        const struct trace_request *request);

#endif
