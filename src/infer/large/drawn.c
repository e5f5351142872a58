/*
 * A conflicting set of an outermost cache among lines that are drawn at random. Whatever chooses
 * the set of a line, and whatever leaves it: of far fewer lines than fit, a few sets get more than
 * they have ways, and these miss in each pass for ever, while all others hit once they have
 * settled. So a walk of a part of the cache names the lines of a few crowded sets:
 *
 *     lines a set      . . . o . . . . . . . . o . . .      o: more than the ways: its lines miss
 *     that are drawn   2 3 1 5 2 0 3 4 1 2 3 2 6 1 3 2      (4 ways)
 *
 * Each line is read twice in a row, at two words. A set that puts what it has read once where it
 * leaves first (lru_late, srrip) then goes round as the others do, and shows all of its lines.
 *
 * Lines come in the order of their addresses, so that a page is translated once in a pass; the
 * first line of each page of the least size is not asked.
 *
 * Among the lines that miss a smallest conflicting set is found as of any cache (conflict.c), and
 * from it line, sets, policy and index (crowd.c).
 */
#include "infer/large/large.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/experiments.h"
#include "infer/fit/groups.h"
#include "infer/geometry/geometry.h"
#include "util/error.h"
#include "util/rng.h"
#include "util/sort.h"

enum { ROUNDS = 7 };

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide). */
static const struct {
    unsigned element, page, spread, first_part, tries, least, most, most_drawn, most_part, new_part,
        turns, warm_beside, slower_cycles, halvings;
    uint64_t least_bytes, first_bytes, most_bytes, ordered_bytes, loads, pool_loads;
    double fewer, settling, longer, shorter, sure, others, beside, slower, steady, doubtful;
    uint8_t warm[ROUNDS], recorded[ROUNDS];
} limits = {
    .element = 128,    /* bytes: a line, or a part of one */
    .page = 4096,      /* bytes: the least page of translation */
    .spread = 4,       /* places for each line that is drawn */
    .first_part = 4,   /* of the first array that did not fit: the first lines */
    .tries = 9,        /* numbers of lines that are tried */
    .least = 3,        /* lines that miss: fewer are no crowded set */
    .most = 1200,      /* lines that miss: of more, fewer lines have enough */
    .most_drawn = 480, /* the same where victims are drawn, and each verdict takes long */
    .most_part = 3,    /* of the lines that are drawn, one in so many: more that miss need not be of
                          crowded sets. Chosen */
    .turns = 4, /* other lines that are read ahead of a set's, to see that none is in it. Chosen */
    .warm_beside = 4, /* passes over the lines beside, before the record. Chosen */
    .steady = 0.5,    /* of the lines that miss in a round, those that miss in each pass: more
                         are not drawn */
    .others =
        0.05, /* share of these that miss: more are misses of something else, as in spaced.c */
    .beside = 0.98, /* quantile of these that misses of the cache are slower than */
    .slower = 1.02, /* times that, and so many cycles more. Chosen */
    .slower_cycles = 4,
    .halvings = 60, /* of the numbers of sets between one and the lines */
    .least_bytes =
        UINT64_C(1) << 18, /* bytes: what does not hold so much is asked in order alone */
    .first_bytes =
        UINT64_C(4)
        << 20, /* bytes: an array that did not fit is so long, or ordered walks are asked first */
    .doubtful = 0.5, /* confidence of sets: of less these are asked again. Chosen */
    .most_bytes = UINT64_C(64) << 20,   /* bytes that lines are drawn from, if that is enough */
    .ordered_bytes = UINT64_C(4) << 20, /* bytes: of less three times as much is walked */
    .loads = 6000000,                   /* loads that finding a set may take */
    .pool_loads = 3000000, /* beside these, among lines that miss, which are few. Chosen */
    .fewer = 0.3,          /* share of the lines that miss: far too many lines */
    .settling = 0.7,       /* times the misses of the round before: it settles */
    .new_part = 16,        /* lines that are new in a round, one in so many: hardly any is left */
    .longer = 1.3,         /* times lines without crowded sets: the next number */
    .shorter = 0.75,       /* times lines with too many of them */
    .sure = 0.85,          /* confidence of ways that one set shows, as in crowd.c */
    .warm = {2, 1, 3, 6, 12, 20, 30},
    .recorded = {1, 1, 2, 4, 8, 16, 16},
};

struct draw {
    struct level *level;
    const uint32_t *pool; /* offsets that lines are drawn from; NULL: all memory */
    const uint32_t *lead; /* of each of these a line that leads its page; NULL: none */
    size_t pool_count;
    uint32_t *line, *ring, *misses; /* offsets, ascending; each twice; in the rounds that count */
    size_t count;
    uint64_t start, loads; /* loads before it, and how many it may take */
    unsigned walks;
    bool draws; /* others miss from round to round */
};

/* What a round shows: lines that miss, those that had not before, and misses in a pass. */
struct shown {
    size_t lines, fresh;
    double rate;
};

static void draw_free(struct draw *d)
{
    free(d->line);
    free(d->ring);
    free(d->misses);
    d->line = d->ring = d->misses = NULL;
}

/* Of ascending numbers each once; how many they are then. */
static size_t unique_u32(uint32_t *numbers, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || numbers[i] != numbers[kept - 1]) {
            numbers[kept++] = numbers[i];
        }
    }
    return kept;
}

/* Places for so many lines, and the lines of one; fewer where memory, or what may be drawn, ends.
 */
static uint64_t places_for(const struct draw *d, size_t count)
{
    uint64_t span = (uint64_t)count * limits.element, limit = limits.most_bytes;
    uint64_t reach = d->level->lab->options->max_footprint_bytes;
    limit = limit < 2 * span ? 2 * span : limit;
    limit = limit < reach ? limit : reach;
    limit = limit < UINT32_MAX ? limit : UINT32_MAX;
    return d->pool                         ? d->pool_count
           : limits.spread * span <= limit ? limits.spread * (uint64_t)count
                                           : limit / limits.element;
}

static bool is_of_page(const struct draw *d, size_t i, uint32_t offset)
{
    return i > 0 && d->line[i - 1] / limits.page == offset / limits.page;
}

/* Adds the pool's line at a place, behind what leads its page. */
static void add_line(struct draw *d, uint64_t place)
{
    uint32_t offset = d->pool ? d->pool[place] : (uint32_t)(place * limits.element);
    if (d->lead && !is_of_page(d, d->count, offset)) {
        d->line[d->count++] = d->lead[place];
    }
    d->line[d->count++] = offset;
}

/* One line of each stretch. */
static int draw_lines(struct draw *d, size_t count)
{
    uint64_t places = places_for(d, count);
    size_t room = (d->lead ? 2 : 1) * count;
    struct rng rng;
    draw_free(d);
    d->count = 0;
    if (count < 2 || places < count) {
        return lab_undecided(d->level->lab, "%zu lines drawn at random are too many", count);
    }
    d->line = malloc(room * sizeof *d->line);
    d->ring = malloc(2 * room * sizeof *d->ring);
    d->misses = calloc(room, sizeof *d->misses);
    if (!d->line || !d->ring || !d->misses) {
        return error_memory();
    }
    rng_seed(&rng, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t from = i * places / count, end = (i + 1) * places / count;
        add_line(d, from + rng_below(&rng, end - from));
    }
    for (size_t i = 0; i < d->count; i++) {
        d->ring[2 * i] = d->line[i];
        d->ring[2 * i + 1] = d->line[i] + CHASE_WORD_BYTES;
    }
    return 0;
}

static bool begins_page(const struct draw *d, size_t i)
{
    return !is_of_page(d, i, d->line[i]);
}

/* Walks on from where the walk before ended; counts lines that missed, and those that had not. */
static int walk_round(struct draw *d, unsigned round, struct shown *out)
{
    struct level *level = d->level;
    if (!d->line) {
        return lab_undecided(level->lab, "no lines to walk");
    }
    unsigned each = d->draws ? 1 : 2;
    size_t count = each * d->count, records = limits.recorded[round] * count;
    const uint32_t *ring = d->draws ? d->line : d->ring;
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = ring, .count = count});
    plan.warm = limits.warm[round] * count;
    plan.windows = (uint32_t)((records + level->max_window - 1) / level->max_window);
    plan.window = (uint32_t)((records + plan.windows - 1) / plan.windows);
    plan.persist = true;
    plan.filler = NULL; /* it reads twice by itself, and goes on from what the last one left */
    plan.run = 500 + d->walks++;
    struct walk walk;
    uint32_t *seen = calloc(d->count + 1, sizeof *seen);
    *out = (struct shown){.rate = 0};
    if (!seen) {
        return error_memory();
    }
    int rc = walk_run(level->lab, &walk, &plan);
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        size_t element = walk_element(&walk, i), line = element / each;
        bool missed = element % each == 0 && !begins_page(d, line) &&
                      level_class(level, walk.latency[i]) == LOAD_MISS;
        seen[line] += missed;
        out->rate += missed / (double)limits.recorded[round];
    }
    for (size_t i = 0; rc == 0 && i < d->count; i++) {
        out->lines += seen[i] > 0;
        out->fresh += seen[i] > 0 && d->misses[i] == 0;
        d->misses[i] += seen[i];
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    free(seen);
    return rc;
}

static bool is_spent(const struct draw *d)
{
    return d->level->lab->loads - d->start > d->loads;
}

static size_t most_missing(const struct draw *d)
{
    return d->draws ? limits.most_drawn : limits.most;
}

/* How many missed. Where they miss in nearly each pass, others do now and then: those that records
 * are written over. Less than a third of the most is theirs. */
static size_t count_shown(struct draw *d)
{
    uint32_t most = 0;
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++) {
        most = d->misses[i] > most ? d->misses[i] : most;
    }
    for (size_t i = 0; i < d->count; i++) {
        d->misses[i] = d->draws || 3 * d->misses[i] > most ? d->misses[i] : 0;
        count += d->misses[i] > 0;
    }
    return count;
}

/* In each pass others miss. */
static bool is_drawn(const struct shown *now)
{
    return now->rate < limits.steady * (double)now->lines;
}

/* The lines that miss for good: rounds until hardly another one shows, or loads end. */
static int see_misses(struct draw *d, size_t *missed)
{
    double before = (double)d->count;
    struct shown now = {0};
    d->draws = false;
    for (unsigned round = 0; round < ROUNDS && !is_spent(d); round++) {
        int rc = walk_round(d, round, &now);
        bool settles = now.rate < limits.settling * before;
        if (rc) {
            return rc;
        }
        d->draws = d->draws || (round > 1 && !settles && now.fresh * limits.new_part > now.lines &&
                                is_drawn(&now));
        if (now.rate > limits.fewer * (double)d->count || now.lines < limits.least ||
            (round > 0 && !settles &&
             (now.lines > most_missing(d) || now.fresh * limits.new_part <= now.lines))) {
            break;
        }
        bool goes_on = round + 1 < ROUNDS && !is_spent(d);
        if (settles && goes_on) { /* what missed then need not miss for good */
            memset(d->misses, 0, d->count * sizeof *d->misses);
        }
        before = now.rate;
    }
    d->draws = d->draws || (is_spent(d) && is_drawn(&now)); /* it ended before it was sure */
    *missed = now.lines < limits.least ? now.lines : count_shown(d);
    return 0;
}

/*
 * So many pages may be more than are translated: then what hits takes long as well. Of each page
 * another line is walked; these share no set but by chance. What misses is slower than they are.
 */
static int pass_translation(struct level *level, const uint32_t *lines, size_t count)
{
    uint32_t *beside = malloc((count + 1) * sizeof *beside);
    struct rng rng;
    struct sample sample = {0};
    if (!beside) {
        return error_memory();
    }
    rng_seed(&rng, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t in_page = lines[i] % limits.page / limits.element;
        uint32_t other = 1 + (uint32_t)rng_below(&rng, limits.page / limits.element - 1);
        beside[i] =
            lines[i] / limits.page * limits.page + (in_page + other) * limits.element % limits.page;
    }
    sort_u32(beside, count);
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = beside, .count = unique_u32(beside, count)});
    plan.warm = limits.warm_beside * count;
    plan.window = (uint32_t)(count < level->max_window ? count : level->max_window);
    plan.windows = 1;
    int rc = walk_sample(level->lab, &sample, &plan);
    if (rc == 0 && sample_share(&sample, level->timing.threshold, INFINITY) > limits.others) {
        double most = sample_quantile(&sample, limits.beside);
        level->timing.threshold =
            fmax(level->timing.threshold, limits.slower * most + limits.slower_cycles);
        rc = level->timing.threshold >= level->timing.miss_cycles
                 ? lab_undecided(level->lab,
                                 "what misses translation takes %.0f cycles, and a miss "
                                 "no more",
                                 most)
                 : 0;
    }
    sample_free(&sample);
    free(beside);
    return rc;
}

/* Of each page a line that was asked and never missed is in another set than those that did. */
static int find_leads(struct draw *d)
{
    struct walk_leads *leads = &d->level->leads;
    uint32_t *line = malloc((d->count + 1) * sizeof *line);
    size_t count = 0;
    if (!line) {
        return error_memory();
    }
    for (size_t i = 0; i < d->count; i++) {
        bool known = count && line[count - 1] / limits.page == d->line[i] / limits.page;
        if (!known && !begins_page(d, i) && d->misses[i] == 0) {
            line[count++] = d->line[i];
        }
    }
    free(leads->line);
    *leads = (struct walk_leads){.line = line, .count = count};
    d->level->in_pages = true;
    return 0;
}

/* What is read ahead may be in the set itself, and take ways of it: then the set fits, sooner or
 * later, where other lines are read ahead. */
static int ask_otherwise(struct level *level)
{
    enum fit_verdict verdict = FIT_NO;
    int rc = 0;
    for (unsigned turn = 1; rc == 0 && verdict == FIT_NO && turn <= limits.turns; turn++) {
        level->leads.turn = turn;
        rc = groups_verdict(level, &verdict, level->conflict.offsets, level->conflict.count);
    }
    level->leads.turn = 0;
    return rc || verdict == FIT_NO
               ? rc
               : lab_undecided(level->lab, "what translates pages takes room in the same set");
}

static int conflict_among(struct draw *d, size_t missed)
{
    struct level *level = d->level;
    uint32_t *lines = malloc((missed + 1) * sizeof *lines);
    size_t count = 0;
    double before = level->timing.threshold;
    if (!lines) {
        return error_memory();
    }
    for (size_t i = 0; i < d->count && count < missed; i++) {
        if (d->misses[i] > 0) {
            lines[count++] = d->line[i];
        }
    }
    int rc = pass_translation(level, lines, count);
    if (rc == INFER_UNDECIDED) {
        level->timing.threshold = before;
        rc = find_leads(d);
    }
    rc = rc ? rc : level_conflict_among(level, lines, count, limits.sure);
    rc = rc || !level->in_pages ? rc : ask_otherwise(level);
    level->timing.threshold = rc ? before : level->timing.threshold;
    if (rc) {
        level_leave_pages(level);
    }
    free(lines);
    return rc;
}

/* The sets that would have crowded so many of the lines by chance: more lines than ways in one. */
static double sets_by_crowd(const struct draw *d, size_t missed, size_t ways)
{
    double low = 1, high = (double)d->count, asked = 0;
    for (size_t i = 0; i < d->count; i++) {
        asked += !begins_page(d, i);
    }
    for (unsigned i = 0; i < limits.halvings; i++) {
        double middle = sqrt(low * high);
        double share = poisson_tail((double)d->count / middle, ways);
        *(share * asked > (double)missed ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

static int find_crowd(struct draw *d);

/* The lines that miss, and of each the first line of its page, which is no line of a crowded set:
 * both have room for as many. */
static size_t take_missing(const struct draw *d, uint32_t *lines, uint32_t *leads, size_t missed)
{
    size_t count = 0, lead = 0;
    for (size_t i = 0; i < d->count && count < missed; i++) {
        lead = begins_page(d, i) ? i : lead;
        if (d->misses[i] > 0) {
            leads[count] = d->line[lead];
            lines[count++] = d->line[i];
        }
    }
    return count;
}

/*
 * Of lines that miss, and are too many to be asked one by one, fewer are drawn. Their sets all have
 * more of them than ways, and no other line of what was drawn is in these: so the pool is short,
 * and when a part of it is left out, few sets are crowded still.
 */
static int crowd_among_missing(struct draw *d, size_t missed)
{
    uint32_t *lines = malloc((2 * missed + 1) * sizeof *lines);
    if (!lines) {
        return error_memory();
    }
    struct draw fewer = {.level = d->level,
                         .pool = lines,
                         .lead = lines + missed,
                         .pool_count = take_missing(d, lines, lines + missed, missed),
                         .start = d->level->lab->loads,
                         .loads = limits.pool_loads,
                         .walks = d->walks};
    int rc = find_crowd(&fewer);
    d->walks = fewer.walks;
    draw_free(&fewer);
    free(lines);
    return rc;
}

/* Of the lines that were drawn so many miss: a set among them. */
static int find_among(struct draw *d, size_t missed)
{
    struct level *level = d->level;
    lab_undecided(level->lab, "%zu of %zu lines drawn at random miss", missed, d->count);
    if (missed > most_missing(d) && !d->pool && missed * limits.most_part <= d->count) {
        return crowd_among_missing(d, missed);
    }
    if (missed < limits.least || missed > most_missing(d)) {
        return INFER_UNDECIDED;
    }
    int rc = conflict_among(d, missed);
    if (rc == 0 && !d->pool && !d->draws) {
        level->crowded_sets = sets_by_crowd(d, missed, level->conflict.count - 1);
    }
    return rc;
}

/* More lines until some sets are crowded, fewer while too many are. */
static int find_crowd(struct draw *d)
{
    double low = 0, high = 0, all = (double)d->level->timing.missed_bytes / limits.element;
    double length = (d->pool ? (double)d->pool_count : all) / limits.first_part;
    int rc = INFER_UNDECIDED;
    lab_undecided(d->level->lab, "no lines drawn at random crowd a set");
    for (unsigned i = 0; rc == INFER_UNDECIDED && i < limits.tries && !is_spent(d); i++) {
        size_t missed = 0;
        rc = draw_lines(d, (size_t)length);
        rc = rc ? rc : see_misses(d, &missed);
        if (rc) {
            return rc;
        }
        rc = find_among(d, missed);
        *(missed > most_missing(d) ? &high : &low) = length;
        length = high == 0 ? low * limits.longer
                 : low > 0 ? low + (high - low) / 2
                           : high * limits.shorter;
    }
    return rc;
}

int large_conflict_among(struct level *level, const uint32_t *lines, size_t count)
{
    struct draw d = {.level = level,
                     .pool = lines,
                     .pool_count = count,
                     .start = level->lab->loads,
                     .loads = limits.loads};
    int rc = find_crowd(&d);
    draw_free(&d);
    return rc;
}

/* How many lines all sets hold together; 0: the sets are told already. Only where lines leave in
 * the order in which they came are those all that hit: else what the policy makes of it is asked
 * first. */
static int find_held(struct level *level, size_t *held)
{
    const char *name = level->result->policy.name;
    bool in_order = strcmp(name, "lru") == 0 || strcmp(name, "fifo") == 0;
    int rc = in_order ? level_held(level, held) : large_sets_by_rule(level);
    if (!lab_soft(rc)) { /* told, or an error */
        return rc;
    }
    *held = 0;
    return in_order ? large_sets_by_rule(level) : level_held(level, held);
}

/* The same, where no rows tell how many sets there are. */
static int count_held(struct level *level)
{
    struct cache_result *result = level->result;
    size_t held = 0;
    const struct level_fit fit = level->fit;
    /* A quarter of what was walked fitted: see keep_size(). */
    level->fit.count = (size_t)(level->timing.missed_bytes / level->line.bytes / 4);
    int rc = find_held(level, &held);
    level->fit = fit;
    if (rc) { /* the line, the ways and the policy are known */
        const struct refusal why = lab_refusal(level->lab);
        attribute_refuse_as(&result->sets, "1", &why);
        attribute_refuse_as(&result->size, "B", &why);
        return lab_soft(rc) ? 0 : rc;
    }
    if (held > 0) {
        level_tell_held(level, held);
        level_doubt_held(level); /* the policy was found before */
    }
    return 0;
}

/*
 * What later walks go by. Half of what the sets hold fits in order, and three times as much does
 * not. Where that is not known: of ever longer arrays each was four times as long as the one before
 * (presence/reference.c), so a quarter of the first that did not fit did.
 */
static void keep_size(struct level *level)
{
    uint64_t line = level->line.bytes;
    uint64_t bytes = level->size_bytes ? level->size_bytes : level->timing.missed_bytes / 4;
    level->large = bytes > limits.ordered_bytes;
    if (!level->large) {
        level->fit = (struct level_fit){.stride = line, .count = (size_t)(bytes / line)};
    }
}

/* A rule that lines of another set have told is that of these, where these tell none. */
static void keep_policy(struct cache_result *result, const struct cache_result *before)
{
    bool same = before->ways.status == ATTRIBUTE_MEASURED &&
                result->ways.status == ATTRIBUTE_MEASURED &&
                before->ways.value == result->ways.value;
    if (same && before->policy.name[0] && !result->policy.name[0]) {
        result->policy = before->policy;
    }
}

/* What it leaves of the level where it fails: nothing. */
static int find_apart(struct level *level)
{
    struct draw d = {.level = level, .start = level->lab->loads, .loads = limits.loads};
    const struct level before = *level;
    struct cache_result *saved = malloc(sizeof *saved);
    if (!saved) {
        return error_memory();
    }
    *saved = *level->result;
    /* Sets and size of ordered walks were doubtful, or are not there: nothing goes by them. */
    attribute_refuse(&level->result->sets, "1", "");
    attribute_refuse(&level->result->size, "B", "");
    level->conflict = (struct level_conflict){0};
    level->map = (struct set_map){0};
    level->size_bytes = 0;
    level->result->row_lines = 0;
    level->crowded_sets = 0;
    level->slice_period = 0;
    level->by_held = false;
    level->large = true;
    level->keeps_hits = true; /* lines that were read twice may stay (ask/after_hits.c) */
    int rc = find_crowd(&d);
    draw_free(&d);
    rc = rc ? rc : large_take_apart(level);
    level_leave_pages(level);
    bool told = rc == 0 && level->result->sets.status == ATTRIBUTE_MEASURED;
    rc = rc || told ? rc : count_held(level);
    free(level->conflict.offsets);
    level->conflict = before.conflict;
    level->taken_apart = rc == 0;
    if (rc == 0) {
        keep_policy(level->result, saved);
        keep_size(level);
    } else {
        *level->result = *saved;
        level->timing.threshold = before.timing.threshold;
        level->habits = before.habits;
        level->line = before.line;
        level->map = before.map;
        level->size_bytes = before.size_bytes;
        level->by_held = before.by_held;
        level->crowded_sets = before.crowded_sets;
        level->slice_period = before.slice_period;
        level->translated = before.translated;
        level->large = before.large;
        level->keeps_hits = before.keeps_hits;
    }
    free(saved);
    return rc;
}

static bool may_ask(const struct level *level, uint64_t least)
{
    return level->outermost && !level->taken_apart && level->timing.missed_bytes >= least;
}

bool drawn_applies(const struct level *level)
{
    bool applies = may_ask(level, limits.first_bytes);
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

/* Only where an array does not fit that takes long to walk again and again. */
int level_drawn(struct level *level)
{
    level->searched_drawn = true;
    return find_apart(level);
}

bool crowded_applies(const struct level *level)
{
    const struct attribute *sets = &level->result->sets;
    bool known = sets->status == ATTRIBUTE_MEASURED && sets->confidence > limits.doubtful;
    bool applies = may_ask(level, limits.least_bytes) && !level->searched_drawn && !known;
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

int level_crowded(struct level *level)
{
    return find_apart(level);
}
