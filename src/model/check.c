/*
 * What the values of a model mean together: geometry, index functions, carve-out choices, the
 * machine around them. Each finding names the parameter at fault and stands at its place in the
 * file. Single values and their ranges are param.c's.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"
#include "model/param.h"
#include "model/check.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/rng.h"

#define LINES_MAX                                                                                  \
    (UINT64_C(1) << 24) /* tags of all caches together, so that a model fits a host                \
                         */
#define SAMPLES_MAX (UINT64_C(1) << 21)

/* ---- carve-out ---- */

/* Leaves out the choices beyond TEXT_MAX bytes, each of them whole, and says so. */
static void cut_choices(char *text)
{
    enum { TEXT_MAX = 250 };
    static const char left_out[] = ", ...]";
    if (strlen(text) <= TEXT_MAX) {
        return;
    }
    char *end = text + TEXT_MAX - sizeof left_out;
    while (end > text && *end != '}') {
        end--;
    }
    memcpy(end + (end > text), left_out, sizeof left_out);
}

/* The choices on one line, at most TEXT_MAX bytes. free() them. */
static char *choices_text(const struct model *model)
{
    struct strbuf list = {0};
    list_write(&list, model, param_find("carveout.choices"));
    char *text = strbuf_take(&list), *to = text;
    for (const char *c = text; c && *c; c++) {
        bool blank = *c == '\n' || *c == ' ';
        if (!blank || (to > text && to[-1] != ' ' && to[-1] != '[')) {
            *to++ = blank ? ' ' : *c;
        }
    }
    if (to) {
        *to = '\0';
        cut_choices(text);
    }
    return text;
}

/* A value that a choice determines may be given beside it only if it agrees. */
static void check_agrees(struct reader *reader, const char *path, bool agrees)
{
    if (given(reader, path) && !agrees) {
        bool inherited = !given(reader, "carveout.choices") && reader->inherits;
        char *list = choices_text(reader->model);
        problem(reader, path,
                "differs from choice %u of carveout.choices, which determines it%s%s: %s; change "
                "the choices, or have none with carveout: {choices: []}",
                reader->model->carveout.initial, inherited ? ", inherited from " : "",
                inherited ? reader->inherits : "", list ? list : "");
        free(list);
    }
}

/* If one choice has index bits (probabilities), all have them: what the others meant would depend
 * on which choice is the initial one. */
static void check_complete(struct reader *reader, const struct carveout_spec *carveout)
{
    uint32_t index = 0, probability = 0;
    for (uint32_t i = 0; i < carveout->count; i++) {
        index += carveout->choice[i].index_mask_count > 0;
        probability += carveout->choice[i].probability_count > 0;
    }
    if (index > 0 && index < carveout->count) {
        problem(reader, "carveout.choices",
                "give each choice its index_bits or index_masks, or none");
    }
    if (probability > 0 && probability < carveout->count) {
        problem(reader, "carveout.choices", "give each choice its victim_probability, or none");
    }
}

static bool same_probabilities(const struct replacement_spec *a, const struct replacement_spec *b)
{
    bool same = a->probability_count == b->probability_count;
    for (uint32_t i = 0; same && i < a->probability_count; i++) {
        same = a->probability[i] == b->probability[i];
    }
    return same;
}

static void derive_carveout(struct reader *reader)
{
    struct model *model = reader->model;
    struct carveout_spec *carveout = &model->carveout;
    if (carveout->count == 0) {
        carveout->initial = given(reader, "carveout.initial") ? carveout->initial : 0;
        if (carveout->initial > 0) {
            problem(reader, "carveout.initial", "there are no choices");
        }
        return;
    }
    if (carveout->initial >= carveout->count) {
        problem(reader, "carveout.initial", "is %u, but there are only %u choices, counted from 0",
                carveout->initial, carveout->count);
        return;
    }
    check_complete(reader, carveout);
    struct cache_spec carved;
    uint64_t shared_bytes;
    model_carve(&carved, &shared_bytes, model, carveout->initial);
    const struct cache_spec *l1 = &model->l1_data;
    check_agrees(reader, "l1_data.size", l1->size_bytes == carved.size_bytes);
    check_agrees(reader, "l1_data.data", l1->data_bytes == carved.data_bytes);
    check_agrees(reader, "l1_data.sets", l1->sets == carved.sets);
    check_agrees(reader, "l1_data.ways", l1->ways == carved.ways);
    check_agrees(reader, "l1_data.ways_per_set", l1->unequal_count == 0);
    bool same_masks = l1->index.mask_count == carved.index.mask_count &&
                      memcmp(l1->index.masks, carved.index.masks, sizeof(l1->index.masks)) == 0;
    check_agrees(reader, "l1_data.index.bits", same_masks);
    check_agrees(reader, "l1_data.index.masks", same_masks);
    bool same_probability = same_probabilities(&l1->replacement, &carved.replacement);
    check_agrees(reader, "l1_data.replacement.victim_probability", same_probability);
    check_agrees(reader, "sm.shared.size", model->sm.shared.size_bytes == shared_bytes);
    model->l1_data = carved;
    model->sm.shared.size_bytes = shared_bytes;
}

static uint64_t l1_data_bytes(const struct cache_spec *l1)
{
    return l1->data_bytes ? l1->data_bytes : l1->size_bytes;
}

/* One array is cut in two: what both take together is the same in each choice. */
static uint64_t choice_sum(const struct model *model)
{
    struct cache_spec l1;
    uint64_t shared_bytes;
    model_carve(&l1, &shared_bytes, model, 0);
    return shared_bytes + l1_data_bytes(&l1);
}

static void check_choices(struct reader *reader)
{
    const struct model *model = reader->model;
    for (uint32_t i = 0; i < model->carveout.count; i++) {
        struct subject subject = {reader, "l1_data", "carveout.choices", i};
        struct cache_spec l1;
        uint64_t shared_bytes;
        model_carve(&l1, &shared_bytes, model, i);
        if (model->carveout.choice[i].index_mask_count > 0 && !index_is_linear(&l1.index)) {
            complain(&subject, "", "index_bits and index_masks are for the kinds bits and xor");
        }
        check_cache(&subject, &l1);
        uint64_t sum = shared_bytes + l1_data_bytes(&l1), first = choice_sum(model);
        struct words words;
        if (sum != first) {
            complain(&subject, "", "shared and %s make %s, those of choice 0 make %s",
                     l1.data_bytes ? "data" : "l1", bytes_text(words.a, sum),
                     bytes_text(words.b, first));
        }
    }
}

/* ---- L2 as a whole ---- */

static void use_sample(const struct model *model, uint64_t address, unsigned char *seen,
                       uint32_t *used)
{
    const struct cache_spec *l2 = &model->l2;
    uint32_t slices = model->l2_slices / model->l2_parts.count;
    uint32_t slice = mem_index_set(&model->l2_slice_index, slices, l2->line_bytes, address);
    uint32_t set = mem_index_set(&l2->index, l2->sets, l2->line_bytes, address);
    uint64_t place = (uint64_t)slice * l2->sets + set;
    *used += !(seen[place >> 3] >> (place & 7) & 1);
    seen[place >> 3] |= (unsigned char)(1u << (place & 7));
}

/*
 * Two index functions that are sound by themselves can leave sets unused together: a slice that
 * takes every sixth line sees only some values of the line's low bits. Linear ones are checked by
 * rank, others by running over lines from 0 and over random ones.
 */
static bool all_sets_used(const struct model *model)
{
    const struct cache_spec *l2 = &model->l2;
    const struct index_spec *slice = &model->l2_slice_index;
    if (index_is_linear(slice) && index_is_linear(&l2->index)) {
        uint64_t rows[2 * MEM_MAX_INDEX_MASKS];
        uint32_t count = slice->mask_count + l2->index.mask_count;
        memcpy(rows, slice->masks, slice->mask_count * sizeof(rows[0]));
        memcpy(rows + slice->mask_count, l2->index.masks, l2->index.mask_count * sizeof(rows[0]));
        return masks_rank(rows, count) == count;
    }
    static const uint64_t per_place = 32;
    uint64_t places = (uint64_t)(model->l2_slices / model->l2_parts.count) * l2->sets;
    uint64_t unit =
        l2->index.unit_bytes > l2->line_bytes ? l2->index.unit_bytes / l2->line_bytes : 1;
    if (places > SAMPLES_MAX || unit > SAMPLES_MAX || places * per_place * unit > SAMPLES_MAX) {
        return true; /* too many to try: not refused for that */
    }
    unsigned char seen[SAMPLES_MAX / 32 / 8 + 1] = {0};
    uint32_t used = 0;
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint64_t i = 0; i < places * per_place * unit && used < places; i++) {
        use_sample(model, i * l2->line_bytes, seen, &used);
        use_sample(model, rng_below(&rng, UINT64_C(1) << 40) / l2->line_bytes * l2->line_bytes,
                   seen, &used);
    }
    return used == places;
}

static void check_slices(struct reader *reader)
{
    const struct model *model = reader->model;
    unsigned before = reader->problem_count;
    struct subject subject = {reader, "l2.slice_index", NULL, 0};
    uint32_t slices = model->l2_slices / model->l2_parts.count;
    check_index(&subject, &model->l2_slice_index, slices, model->l2.line_bytes, "slices");
    uint64_t grain = index_grain_bytes(&model->l2_slice_index, model->l2.line_bytes);
    uint32_t piece = model->sm.coalesce.segment_bytes;
    if (model->l1_data.enabled && model->l1_data.sector_bytes > piece) {
        piece = model->l1_data.sector_bytes;
    }
    struct words words;
    if (model->l2_slices > 1 && grain % piece != 0) {
        problem(reader, "l2.slice_index.kind", "the slice changes every %s, within a request of %s",
                bytes_text(words.a, grain), bytes_text(words.b, piece));
    }
    if (model->l2.enabled && reader->problem_count == before && !all_sets_used(model)) {
        problem(reader, "l2.index.kind",
                "together with l2.slice_index it leaves sets of some slices unused");
    }
}

/* ---- the rest of the machine ---- */

/* A list gives each of `owners` a number below `below`, and leaves none of them out. */
static void check_numbers(struct reader *reader, const char *path, const struct number_list *list,
                          uint32_t owners, const char *what, uint32_t below)
{
    bool used[MODEL_MAX_SMS] = {false};
    uint32_t count = 0;
    if (list->count == 0) {
        return;
    }
    if (list->count != owners) {
        problem(reader, path, "has %u items for %u %s", list->count, owners, what);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->number[i] >= below) {
            problem(reader, path, "item %u is %u, but there are only %u, counted from 0", i,
                    list->number[i], below);
            return;
        }
        count += !used[list->number[i]];
        used[list->number[i]] = true;
    }
    if (count < below) {
        problem(reader, path, "only %u of %u are ever used", count, below);
    }
}

static void check_parts(struct reader *reader)
{
    const struct model *model = reader->model;
    const struct l2_parts_spec *parts = &model->l2_parts;
    if (model->l2_slices % parts->count != 0) {
        problem(reader, "l2.parts", "%u does not divide l2.slices, %u", parts->count,
                model->l2_slices);
        return;
    }
    uint32_t slices = model->l2_slices / parts->count;
    if (parts->slice_cycles.count != 0 && parts->slice_cycles.count != slices) {
        problem(reader, "l2.slice_latency", "has %u items for %u slices of a part",
                parts->slice_cycles.count, slices);
    }
    check_numbers(reader, "l2.part_of_cluster", &parts->of_cluster, model->clusters, "clusters",
                  parts->count);
    if (parts->count == 1) {
        return;
    }
    struct subject subject = {reader, "l2.part_index", NULL, 0};
    check_index(&subject, &parts->index, parts->count, model->l2.line_bytes, "parts");
    if (parts->count > model->clusters) {
        problem(reader, "l2.parts", "%u parts share %u clusters", parts->count, model->clusters);
    }
    if (!model->l2.enabled || model->l2.write != WRITE_BACK) {
        problem(reader, "l2.parts", "several parts need an L2 that writes back");
    }
    if (model->l2.mshr_entries < 2 || model->l2.mshr_mergers < 1) {
        problem(reader, "l2.miss.entries",
                "copies of other parts' lines need 2 entries and a merger at least");
    }
}

static void check_sm(struct reader *reader)
{
    const struct sm_spec *sm = &reader->model->sm;
    if (sm->max_threads > sm->max_warps * 32) {
        problem(reader, "sm.max_threads", "%u threads do not fit %u warps of 32", sm->max_threads,
                sm->max_warps);
    }
    if (sm->schedulers > sm->max_warps) {
        problem(reader, "sm.schedulers", "%u schedulers share %u warps", sm->schedulers,
                sm->max_warps);
    }
    if (sm->sub_cores > sm->schedulers) {
        problem(reader, "sm.sub_cores", "%u sub-cores share %u schedulers", sm->sub_cores,
                sm->schedulers);
    }
    if (32 % sm->coalesce.lanes_per_pass != 0) {
        problem(reader, "sm.coalesce.lanes_per_pass", "%u does not divide 32",
                sm->coalesce.lanes_per_pass);
    }
    if (!is_power_of_two(sm->coalesce.segment_bytes)) {
        problem(reader, "sm.coalesce.segment", "%u B is not a power of two",
                sm->coalesce.segment_bytes);
    }
    if (!is_power_of_two(sm->coalesce.sector_bytes) ||
        sm->coalesce.sector_bytes > sm->coalesce.segment_bytes) {
        problem(reader, "sm.coalesce.sector", "%u B is not a power of two of at most a segment",
                sm->coalesce.sector_bytes);
    }
    if (sm->lsu_tag_banks & (sm->lsu_tag_banks - 1)) {
        problem(reader, "sm.lsu.tag_banks", "%u is not a power of two", sm->lsu_tag_banks);
    }
    bool bounded = sm->pending.kind != PENDING_NONE;
    if (bounded && sm->pending.entries == 0) {
        problem(reader, "sm.outstanding.entries", "the structure needs at least one");
    }
    if (!bounded && sm->pending.entries > 0) {
        problem(reader, "sm.outstanding.entries", "there is no sm.outstanding.structure to have %u",
                sm->pending.entries);
    }
    if (sm->pending.hold_instruction && sm->pending.kind != PENDING_REQUEST_LIMIT) {
        problem(reader, "sm.outstanding.hold_instruction", "is of a request_limit");
    }
    if (sm->registers < sm->register_granule) {
        problem(reader, "sm.register_granule", "is more than all registers");
    }
    check_numbers(reader, "cluster_of", &reader->model->cluster_of, reader->model->sms, "SMs",
                  reader->model->clusters);
    if (reader->model->clusters > reader->model->sms) {
        problem(reader, "clusters", "%u clusters share %u SMs", reader->model->clusters,
                reader->model->sms);
    }
}

/* How a channel is cut; what mem_dram_check() says beside it has no parameter of its own. */
static void check_dram(struct reader *reader, const struct dram_spec *dram)
{
    struct words words;
    unsigned before = reader->problem_count;
    if (dram->bank_groups > 0 && dram->banks % dram->bank_groups != 0) {
        problem(reader, "dram.bank_groups", "%u does not divide banks, %u", dram->bank_groups,
                dram->banks);
    }
    if (dram->bank_interleave_bytes > 0 && dram->row_bytes % dram->bank_interleave_bytes != 0) {
        problem(reader, "dram.bank_interleave", "%s does not divide the row, %s",
                bytes_text(words.a, dram->bank_interleave_bytes),
                bytes_text(words.b, dram->row_bytes));
    }
    if (dram->banks_abreast > 0 && dram->banks % dram->banks_abreast != 0) {
        problem(reader, "dram.banks_abreast", "%u does not divide banks, %u", dram->banks_abreast,
                dram->banks);
    }
    if (reader->problem_count == before && mem_dram_check(dram) < 0) {
        problem(reader, dram->t_refi > 0 ? "dram.t_refi" : "dram.subchannels", "%s", error_text());
    }
}

static void check_memory(struct reader *reader)
{
    const struct model *model = reader->model;
    const struct dram_spec *dram = &model->dram;
    struct words words;
    if (model->l2_slices % dram->channels != 0) {
        problem(reader, "dram.channels", "%u does not divide l2.slices, %u", dram->channels,
                model->l2_slices);
    }
    if (dram->row_bytes % dram->burst_bytes != 0) {
        problem(reader, "dram.burst", "%s does not divide the row, %s",
                bytes_text(words.a, dram->burst_bytes), bytes_text(words.b, dram->row_bytes));
    }
    if (dram->t_rc < dram->t_ras) {
        problem(reader, "dram.t_rc", "%u cycles are less than t_ras, %u, which is part of it",
                dram->t_rc, dram->t_ras);
    }
    check_dram(reader, dram);
    if (!is_power_of_two(model->vm.page_bytes)) {
        problem(reader, "vm.page", "%s is not a power of two",
                bytes_text(words.a, model->vm.page_bytes));
    } else if (model->vm.memory_bytes % model->vm.page_bytes != 0 || model->vm.memory_bytes == 0) {
        problem(reader, "vm.memory", "%s is not a multiple of the page, %s",
                bytes_text(words.a, model->vm.memory_bytes),
                bytes_text(words.b, model->vm.page_bytes));
    }
}

static void check_name(struct reader *reader)
{
    for (const char *p = reader->model->name; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '-' || *p == '_' || *p == '.';
        if (!plain) {
            problem(reader, "name", "'%s' may hold letters, digits, - _ and . only",
                    reader->model->name);
            return;
        }
    }
    if (!reader->model->name[0]) {
        problem(reader, "name", "is empty");
    }
}

/* A list that this file gives although the kind beside it has no use for it. */
static void check_unused_lists(struct reader *reader)
{
    for (size_t i = 0; i < param_count(); i++) {
        const struct param *param = param_at(i);
        if (reader->where[i] && !param_applies(reader->model, param)) {
            problem(reader, param->path, "does not belong to this kind: see '%s'", param->doc);
        }
    }
}

static uint64_t lines_if(const struct cache_spec *cache)
{
    return cache->enabled ? cache_lines(cache) : 0;
}

static void check_total(struct reader *reader)
{
    const struct model *model = reader->model;
    uint64_t lines = lines_if(&model->l2) * model->l2_slices +
                     (lines_if(&model->l1_data) + lines_if(&model->texture_l1) +
                      lines_if(&model->constant_l1) + lines_if(&model->constant_l15)) *
                         model->sms;
    if (lines > LINES_MAX) {
        problem(reader, "sms",
                "all caches together have %llu lines; %llu are the most that are simulated",
                (unsigned long long)lines, (unsigned long long)LINES_MAX);
    }
}

static void check_noc(struct reader *reader)
{
    struct model *model = reader->model;
    model->noc.share_tables = model->noc.share_groups * model->clusters;
    if (model->noc.folds_header && model->noc.write_granule_bytes != NOC_SECTOR_BYTES) {
        problem(reader, "noc.folds_header", "needs a write_granule of %d B", NOC_SECTOR_BYTES);
    }
    if (reader->problem_count == 0 &&
        mem_noc_check(&model->noc, model->sms, model->l2_slices) < 0) {
        problem(reader, "noc.kind", "%s", error_text());
    }
}

void check_model(struct reader *reader)
{
    struct model *model = reader->model;
    check_unused_lists(reader);
    normalise_cache(&model->l1_data);
    normalise_cache(&model->l2);
    normalise_index(&model->l2_slice_index);
    normalise_index(&model->l2_parts.index);
    normalise_vm(reader);
    normalise_readonly(reader);
    derive_carveout(reader);
    if (reader->problem_count > 0) {
        return; /* what follows would repeat it in other words */
    }
    check_name(reader);
    check_sm(reader);
    struct subject l1 = {reader, "l1_data", NULL, 0}, l2 = {reader, "l2", NULL, 0};
    if (model->carveout.count > 0) {
        check_choices(reader);
    } else if (model->l1_data.enabled) {
        check_cache(&l1, &model->l1_data);
    }
    if (model->l2.enabled) {
        check_cache(&l2, &model->l2);
    }
    check_parts(reader);
    if (reader->problem_count == 0) {
        check_slices(reader);
        check_total(reader);
    }
    check_memory(reader);
    check_noc(reader);
    check_vm(reader);
    check_readonly(reader);
}

void model_carve(struct cache_spec *l1, uint64_t *shared_bytes, const struct model *model,
                 uint32_t choice)
{
    const struct carveout_choice *cut = &model->carveout.choice[choice];
    *l1 = model->l1_data;
    l1->size_bytes = cut->l1_bytes;
    l1->data_bytes = cut->data_bytes;
    l1->sets = cut->l1_sets;
    l1->ways = cut->l1_ways;
    l1->unequal_count = 0;
    memset(l1->ways_per_set, 0, sizeof(l1->ways_per_set));
    if (cut->index_mask_count > 0) {
        l1->index.mask_count = cut->index_mask_count;
        memcpy(l1->index.masks, cut->index_masks, sizeof(l1->index.masks));
    }
    if (cut->probability_count > 0) {
        l1->replacement.probability_count = cut->probability_count;
        memcpy(l1->replacement.probability, cut->probability, sizeof(l1->replacement.probability));
    }
    *shared_bytes = cut->shared_bytes;
}
