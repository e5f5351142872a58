/*
 * The statistics of timed launches as JSON, of all and of each kernel: what Bakhoda et al. (ISPASS
 * 2009) report of a program, in counts, and the ratios that they define:
 *
 *     IPC               thread instructions a core cycle, of the whole GPU
 *     DRAM utilization  share of the time in which a channel's pins carry data
 *     DRAM efficiency   the same, of the time in which the channel has a request (section 4.5)
 *
 * A list stands where a figure of theirs has bars: active lanes (Fig. 7), memory accesses by space
 * (Fig. 5), units (Fig. 4). Latencies are in places that grow with their size (core/sm_stats.h).
 * docs/statistics.schema.json describes every member.
 */
#include "statistics/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "sample/sampler.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/hash.h"

void placements_note(void *context, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends)
{
    struct placements *placements = context;
    if (ends) {
        for (size_t i = placements->count; i-- > 0;) {
            if (placements->list[i].cta == cta) {
                placements->list[i].end_cycle = cycle;
                return;
            }
        }
        return;
    }
    if (placements->count == placements->capacity) {
        size_t capacity = placements->capacity ? placements->capacity * 2 : 256;
        struct placement *list = realloc(placements->list, capacity * sizeof *list);
        if (!list) {
            placements->failed = true;
            return;
        }
        placements->list = list;
        placements->capacity = capacity;
    }
    placements->list[placements->count++] =
        (struct placement){.cta = cta, .sm = sm, .start_cycle = cycle};
}

void placements_free(struct placements *placements)
{
    free(placements->list);
    *placements = (struct placements){0};
}

int residents_begin(struct residents *residents, uint32_t sms)
{
    *residents = (struct residents){.ctas = calloc(sms, sizeof *residents->ctas)};
    return residents->ctas ? 0 : error_memory();
}

void residents_note(void *context, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends)
{
    struct residents *residents = context;
    (void)cta;
    residents->late += !ends && cycle > 0;
    if (ends) {
        residents->ctas[sm]--;
    } else if (++residents->ctas[sm] > residents->most) {
        residents->most = residents->ctas[sm];
    }
}

void residents_free(struct residents *residents)
{
    free(residents->ctas);
    residents->ctas = NULL;
}

size_t statistics_find(const struct statistics *statistics, const char *kernel, uint64_t code)
{
    for (size_t i = 0; i < statistics->count; i++) {
        if (statistics->kernels[i].code == code &&
            strcmp(statistics->kernels[i].name, kernel) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* NULL when memory is out. */
static struct statistics_kernel *kernel_new(struct statistics *statistics, const char *name,
                                            uint64_t code)
{
    if (statistics->count == statistics->capacity) {
        size_t capacity = statistics->capacity ? statistics->capacity * 2 : 4;
        struct statistics_kernel *list =
            realloc(statistics->kernels, capacity * sizeof(*statistics->kernels));
        if (!list) {
            return NULL;
        }
        statistics->kernels = list;
        statistics->capacity = capacity;
    }
    struct statistics_kernel *kernel = &statistics->kernels[statistics->count];
    *kernel = (struct statistics_kernel){.name = strdup(name), .code = code, .variant = 1};
    for (size_t i = 0; i < statistics->count; i++) {
        kernel->variant += strcmp(statistics->kernels[i].name, name) == 0;
    }
    statistics->count += kernel->name != NULL;
    return kernel->name ? kernel : NULL;
}

static uint64_t size_hash(const struct statistics_size *size)
{
    return hash_bytes(hash_bytes(HASH_BEGIN, size->grid, sizeof size->grid), size->block,
                      sizeof size->block);
}

/* Counts a launch of a size that is known. `hashed`: the place plus 1 of the last of its hash. */
static bool size_count(struct statistics_kernel *kernel, const struct statistics_size *size,
                       uint64_t hashed)
{
    for (size_t i = hashed; i > 0; i = kernel->sizes[i - 1].alike) {
        struct statistics_size *known = &kernel->sizes[i - 1];
        if (memcmp(known->grid, size->grid, sizeof size->grid) == 0 &&
            memcmp(known->block, size->block, sizeof size->block) == 0) {
            known->launches++;
            return true;
        }
    }
    return false;
}

static bool size_add(struct statistics_kernel *kernel, const struct statistics_launch *launch)
{
    struct statistics_size size = {.launches = 1};
    memcpy(size.grid, launch->grid, sizeof size.grid);
    memcpy(size.block, launch->block, sizeof size.block);
    uint64_t hash = size_hash(&size), hashed = 0;
    u64_map_get(&hashed, &kernel->size_places, hash);
    if (size_count(kernel, &size, hashed)) {
        return true;
    }
    if (kernel->size_count == kernel->size_capacity) {
        size_t capacity = kernel->size_capacity ? kernel->size_capacity * 2 : 4;
        struct statistics_size *list = realloc(kernel->sizes, capacity * sizeof *list);
        if (!list) {
            return false;
        }
        kernel->sizes = list;
        kernel->size_capacity = capacity;
    }
    size.alike = hashed;
    kernel->sizes[kernel->size_count++] = size;
    return u64_map_put(&kernel->size_places, hash, kernel->size_count) == 0;
}

void statistics_launched(struct statistics *statistics, const struct statistics_launch *launch)
{
    size_t i = statistics_find(statistics, launch->kernel, launch->code);
    struct statistics_kernel *kernel = i < SIZE_MAX
                                           ? &statistics->kernels[i]
                                           : kernel_new(statistics, launch->kernel, launch->code);
    if (!kernel || (launch->grid && !size_add(kernel, launch))) {
        statistics->failed = true;
        return;
    }
    gpu_stats_add(&kernel->stats, launch->stats);
    kernel->overlapping += launch->overlaps;
}

void statistics_add(void *context, const char *name, const struct gpu_stats *launch)
{
    statistics_launched(context, &(struct statistics_launch){.kernel = name, .stats = launch});
}

void statistics_total(struct gpu_stats *out, const struct statistics *statistics)
{
    *out = (struct gpu_stats){0};
    for (size_t i = 0; i < statistics->count; i++) {
        gpu_stats_add(out, &statistics->kernels[i].stats);
    }
}

void statistics_free(struct statistics *statistics)
{
    for (size_t i = 0; i < statistics->count; i++) {
        free(statistics->kernels[i].name);
        free(statistics->kernels[i].sizes);
        u64_map_free(&statistics->kernels[i].size_places);
    }
    free(statistics->kernels);
    *statistics = (struct statistics){0};
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void put_units(json_t *root, const char *key, const uint64_t counts[ISA_UNIT_COUNT])
{
    json_t *units = json_put_object(root, key);
    for (int i = 0; i < ISA_UNIT_COUNT; i++) {
        json_put_u64(units, isa_unit_text((enum isa_unit)i), counts[i]);
    }
}

static void put_spaces(json_t *root, const char *key, const uint64_t counts[SPACE_COUNT])
{
    json_t *spaces = json_put_object(root, key);
    for (int i = 0; i < SPACE_COUNT; i++) {
        if (counts[i]) {
            const char *name = i == SPACE_NONE ? "generic" : isa_space_text((enum isa_space)i);
            json_put_u64(spaces, name, counts[i]);
        }
    }
}

static void put_instructions(json_t *root, const struct gpu_stats *stats)
{
    put_units(root, "warp_instructions_by_unit", stats->sm.unit_insns);
    put_units(root, "thread_instructions_by_unit", stats->sm.unit_lanes);
    json_put_u64(root, "thread_divisions", stats->sm.division_lanes);
    put_spaces(root, "accesses_by_space", stats->sm.space);
    put_spaces(root, "thread_accesses_by_space", stats->sm.space_lanes);
    json_t *lanes = json_put_array(root, "warp_instructions_by_active_lanes");
    for (int i = 0; i <= WARP_LANES; i++) {
        json_append(lanes, json_integer((json_int_t)stats->sm.lanes[i]));
    }
}

static void put_cycles(json_t *root, const struct model *model, const struct gpu_stats *stats)
{
    json_t *sms = json_put_object(root, "sm_cycles");
    uint64_t spent = stats->sm.issue_cycles;
    json_put_u64(sms, "issue", stats->sm.issue_cycles);
    static const char *const waits[] = {
#define WAIT(id, text, doc) text,
#include "core/wait.def"
#undef WAIT
    };
    for (int i = 0; i < SM_WAIT_COUNT; i++) {
        json_put_u64(sms, waits[i], stats->sm.wait_cycles[i]);
        spent += stats->sm.wait_cycles[i];
    }
    uint64_t all = stats->cycles * model->sms;
    json_put_u64(sms, "empty", all > spent ? all - spent : 0);
}

static void put_cache(json_t *caches, const char *name, uint64_t reads, uint64_t hits,
                      uint64_t pending_hits)
{
    if (reads) {
        json_t *cache = json_put_object(caches, name);
        json_put_u64(cache, "reads", reads);
        json_put_u64(cache, "hits", hits);
        json_put_u64(cache, "pending_hits", pending_hits);
        json_put_double(cache, "hit_rate", ratio(hits, reads));
    }
}

static void put_caches(json_t *root, const struct gpu_stats *s)
{
    json_t *caches = json_put_object(root, "caches");
    put_cache(caches, "l1_data", s->l1_reads, s->l1_hits, s->l1_pending_hits);
    put_cache(caches, "texture_l1", s->texture_reads, s->texture_hits, s->texture_pending_hits);
    put_cache(caches, "constant_l1", s->constant_reads, s->constant_hits, s->constant_pending_hits);
    put_cache(caches, "constant_l15", s->constant_l15_reads, s->constant_l15_hits,
              s->constant_l15_pending_hits);
    put_cache(caches, "l2", s->l2_reads, s->l2_hits, s->l2_pending_hits);
    put_cache(caches, "tlb_l1", s->tlb_l1_reads, s->tlb_l1_hits, s->tlb_l1_pending_hits);
    put_cache(caches, "tlb_l2", s->tlb_l2_reads, s->tlb_l2_hits, s->tlb_l2_pending_hits);
    json_put_u64(caches, "l2_writebacks", s->l2_writebacks);
    json_put_u64(caches, "page_walks", s->walks);
}

static json_t *put_way(json_t *network, const char *name, const struct mem_noc_way_stats *way,
                       uint64_t period_ps)
{
    json_t *object = json_put_object(network, name);
    json_put_u64(object, "packets", way->packets);
    json_put_u64(object, "flits", way->flits);
    json_put_u64(object, "port_stall_cycles", way->stalled_cycles);
    json_put_double(object, "mean_routers", ratio(way->routers, way->packets));
    json_put_double(object, "mean_latency_cycles",
                    ratio(way->latency_ps / period_ps, way->packets));
    return object;
}

static void put_memory(json_t *root, const struct model *model, const struct gpu_stats *stats)
{
    json_t *network = json_put_object(root, "network");
    json_t *requests = put_way(network, "requests", &stats->noc.requests, model->core_period_ps);
    json_put_u64(requests, "sectors", stats->noc.requests.sectors);
    put_way(network, "replies", &stats->noc.replies, model->core_period_ps);
    json_t *dram = json_put_object(root, "dram");
    uint64_t time_ps = stats->cycles * model->core_period_ps * model->dram.channels;
    json_put_u64(dram, "reads", stats->dram_reads);
    json_put_u64(dram, "writes", stats->dram_writes);
    json_put_u64(dram, "read_bytes", stats->dram_read_bytes);
    json_put_u64(dram, "written_bytes", stats->dram_written_bytes);
    json_put_u64(dram, "row_hits", stats->dram_row_hits);
    json_put_u64(dram, "row_misses", stats->dram_row_misses);
    json_put_double(dram, "utilization", ratio(stats->dram_busy_ps, time_ps));
    json_put_double(dram, "efficiency", ratio(stats->dram_busy_ps, stats->dram_pending_ps));
    json_put_double(dram, "sending", ratio(stats->dram_sending_ps, time_ps));
    json_put_double(dram, "sending_of_pending",
                    ratio(stats->dram_sending_ps, stats->dram_pending_ps));
}

static void put_latencies(json_t *root, const struct gpu_stats *stats)
{
    json_t *list = json_put_array(root, "access_latency_cycles");
    for (uint32_t i = 0; i < SM_LATENCY_PLACES; i++) {
        if (stats->sm.latency[i]) {
            json_t *place = json_object();
            json_put_u64(place, "from", sm_latency_begin(i));
            json_put_u64(place, "to", sm_latency_begin(i + 1) - 1);
            json_put_u64(place, "count", stats->sm.latency[i]);
            json_append(list, place);
        }
    }
}

static void put_placements(json_t *root, const struct placements *placements)
{
    json_t *list = json_put_array(root, "ctas");
    for (size_t i = 0; i < placements->count; i++) {
        const struct placement *placement = &placements->list[i];
        json_t *cta = json_object();
        json_put_u64(cta, "cta", placement->cta);
        json_put_u64(cta, "sm", placement->sm);
        json_put_u64(cta, "start", placement->start_cycle);
        json_put_u64(cta, "end", placement->end_cycle);
        json_append(list, cta);
    }
}

static void put_counts(json_t *root, const struct model *model, const struct gpu_stats *stats)
{
    json_put_u64(root, "launches", stats->launches);
    json_put_u64(root, "cta_count", stats->ctas);
    json_put_u64(root, "cycles", stats->cycles);
    json_put_u64(root, "warp_instructions", stats->warp_insns);
    json_put_u64(root, "machine_instructions", stats->machine_insns);
    json_put_u64(root, "thread_instructions", stats->thread_insns);
    json_put_double(root, "ipc", ratio(stats->thread_insns, stats->cycles));
    put_instructions(root, stats);
    put_cycles(root, model, stats);
    json_put_u64(root, "transactions", stats->transactions);
    json_put_u64(root, "shared_accesses", stats->shared_accesses);
    json_put_u64(root, "shared_conflicts", stats->shared_conflicts);
    json_put_u64(root, "merged_requests", stats->sm.merged_requests);
    json_put_u64(root, "outstanding_stalls", stats->sm.pending_stalls);
    put_caches(root, stats);
    put_memory(root, model, stats);
    put_latencies(root, stats);
}

static void put_sizes(json_t *root, const struct statistics_kernel *kernel)
{
    json_t *list = json_put_array(root, "sizes");
    for (size_t i = 0; i < kernel->size_count; i++) {
        const struct statistics_size *size = &kernel->sizes[i];
        json_t *object = json_object();
        json_t *grid = json_put_array(object, "grid"), *block = json_put_array(object, "block");
        for (int k = 0; k < 3; k++) {
            json_append(grid, json_integer(size->grid[k]));
            json_append(block, json_integer(size->block[k]));
        }
        json_put_u64(object, "launches", size->launches);
        json_append(list, object);
    }
}

static void put_kernels(json_t *root, const struct model *model,
                        const struct statistics *statistics)
{
    json_t *list = json_put_array(root, "kernels");
    for (size_t i = 0; i < statistics->count; i++) {
        json_t *kernel = json_object();
        json_put_string(kernel, "kernel", statistics->kernels[i].name);
        json_put_u64(kernel, "variant", statistics->kernels[i].variant);
        json_put_u64(kernel, "overlapping_launches", statistics->kernels[i].overlapping);
        put_sizes(kernel, &statistics->kernels[i]);
        put_counts(kernel, model, &statistics->kernels[i].stats);
        json_append(list, kernel);
    }
}

static void put_total(json_t *root, const struct sampler_total *total)
{
    json_put_u64(root, "launches", total->launches);
    json_put_u64(root, "simulated_launches", total->timed);
    json_put_u64(root, "unsampled_launches", total->whole);
    json_put_u64(root, "launches_in_part", total->inside);
    json_put_u64(root, "blocks_left_out", total->skipped);
    json_put_u64(root, "strata", total->strata);
    json_t *cycles = json_put_object(root, "cycles");
    json_put_double(cycles, "estimate", total->cycles);
    json_put_double(cycles, "low", total->low);
    json_put_double(cycles, "high", total->high);
    json_put_double(root, "simulated_cycles", total->timed_cycles);
    json_put_u64(root, "warp_instructions", total->warp_insns);
}

/* What stands elsewhere in the document is of the launches that were simulated. */
static void put_sampling(json_t *root, const struct sampler *sampler)
{
    struct sampler_total total;
    json_t *sampling = json_put_object(root, "sampling");
    json_put_double(sampling, "error", sampler_spec(sampler)->error);
    json_put_double(sampling, "confidence", SAMPLER_CONFIDENCE);
    json_put_u64(sampling, "seed", sampler_spec(sampler)->seed);
    sampler_all(sampler, &total);
    put_total(sampling, &total);
    json_t *list = json_put_array(sampling, "kernels");
    for (size_t i = 0; i < sampler_kernels(sampler); i++) {
        json_t *kernel = json_object();
        json_put_string(kernel, "kernel", sampler_kernel(sampler, i, &total));
        json_put_u64(kernel, "variant", total.variant);
        put_total(kernel, &total);
        json_append(list, kernel);
    }
}

int statistics_write(const char *path, const struct model *model,
                     const struct statistics *statistics, const struct placements *placements)
{
    struct gpu_stats total;
    if (statistics->failed || (placements && placements->failed)) {
        return error_memory();
    }
    statistics_total(&total, statistics);
    json_check_whole(); /* what was lost before is others' */
    json_t *root = json_object();
    json_put_string(root, "schema", "sonde.statistics/1");
    json_put_string(root, "model", model->name);
    json_put_u64(root, "sms", model->sms);
    if (statistics->most_ctas) {
        json_put_u64(root, "most_ctas_of_an_sm", statistics->most_ctas);
        json_put_u64(root, "ctas_that_waited", statistics->late_ctas);
    }
    json_put(root, "sampled", json_boolean(statistics->sampler));
    if (statistics->sampler) {
        put_sampling(root, statistics->sampler);
    }
    put_counts(root, model, &total);
    put_kernels(root, model, statistics);
    if (placements) {
        put_placements(root, placements);
    }
    int rc = json_check_whole();
    rc = rc < 0 ? rc : json_to_file(path, root);
    json_decref(root);
    return rc;
}
