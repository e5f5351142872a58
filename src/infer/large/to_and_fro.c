/*
 * How many lines a cache holds, as in geometry/held.c, with all ways in one launch (the probe
 * `held`): there, back, and there again. What hits on the way back was held where the way turned
 * first, what hits on the way there again where it turned the second time: so other lines give a
 * second answer.
 *
 *     there      0 1 2 ... n-1
 *     back       n-1 ... 1 0        hits: what was held of the last lines
 *     again      0 1 2 ... n-1      hits: what was held of the first lines
 *
 * So many lines are read that each set gets more than it holds, if chance brings lines to sets
 * (Poisson). How many sets there are for that is known from lines that were drawn (large/drawn.c),
 * or from what is held of a first number of lines. It is not relied on: what was counted counts
 * only where the last ones of each way miss, many in a row, and both ways tell the same number.
 *
 * Of a cache in parts the SM's own part is counted. What another part has comes later than it does
 * when it is read again at once, for then the own part has a copy. Few such lines miss translation,
 * and count.
 */
#include "infer/level.h"
#include "infer/large/large.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned rounds, reads, each, later_cycles, window_bits, window_rest, page, page_lines;
    double spread_ways, longer, twice, settled, nearly_all, later_share, elsewhere, empty;
    uint64_t loads;
} limits = {
    .rounds = 6,        /* numbers of lines that are tried */
    .reads = 3,         /* of each, where noise is: a line that hits once is held */
    .each = 4,          /* loads of a line at most: those that are held are read twice */
    .window_bits = 48,  /* lines whose bits have room where a record of a window has */
    .window_rest = 256, /* lines: less than these, for what else is kept there */
    .page = 4096,       /* bytes: the least page of translation */
    .page_lines = 4,    /* of a page at least, for its ends not to count */
    .spread_ways = 3,   /* by the root of the ways: what is read at first beyond what fits in order,
                           as parts of that, as in geometry/held.c */
    .longer = 1.25,     /* times the lines that left a set short: the next, at least */
    .twice = 2,         /* times them where all of them were held */
    .nearly_all = 0.98, /* of the lines: so many held tell nothing of the sets */
    .settled = 4,       /* times the sets: lines that miss in a row */
    .empty = 0.1,       /* sets that chance leaves short of lines, at most */
    .later_cycles = 6,  /* cycles that a line comes later than when it is read again, or */
    .later_share = 0.03, /* such a part of a hit: it was farther away, as in device/count.c */
    .elsewhere = 0.06,   /* of the lines held, those that were farther away: more are in another
                            part, fewer missed translation */
    .loads = 8000000,    /* loads that all this may take */
};
enum { BACK, AGAIN, WAYS };

struct reading {
    struct level *level;
    size_t lines;
    bool *held[WAYS]; /* from the line on that is read last */
    size_t hits[WAYS], later;
    bool settled; /* on both ways the last lines miss */
};

static void reading_free(struct reading *r)
{
    free(r->held[BACK]);
    free(r->held[AGAIN]);
    r->held[BACK] = r->held[AGAIN] = NULL;
}

static int reading_create(struct reading *r, struct level *level, size_t lines)
{
    *r = (struct reading){.level = level,
                          .lines = lines,
                          .held = {calloc(lines, sizeof(bool)), calloc(lines, sizeof(bool))}};
    if (!r->held[BACK] || !r->held[AGAIN]) {
        reading_free(r);
        return error_memory();
    }
    return 0;
}

static int build_request(struct trace_request *request, const struct reading *r, uint64_t base,
                         bool with_later, unsigned run)
{
    const struct level *level = r->level;
    double slack = fmax(limits.later_cycles, limits.later_share * level->timing.hit_cycles);
    trace_request_init(request, "held");
    int rc = trace_request_set_text(request, "op", level->info->op);
    rc = rc || base == 0 ? rc : trace_request_set_u64(request, "base", base);
    rc = rc ? rc : trace_request_set_u64(request, "stride", level->line.bytes);
    rc = rc ? rc : trace_request_set_u64(request, "count", r->lines);
    rc = rc ? rc : trace_request_set_u64(request, "most", (uint64_t)level->timing.threshold);
    rc = rc || with_later ? rc : trace_request_set_u64(request, "slack", (uint64_t)slack);
    rc = rc || run == 0 ? rc : trace_request_set_u64(request, "run", run);
    return rc || !level->info->shared_bytes
               ? rc
               : trace_request_set_u64(request, "shared", level->info->shared_bytes);
}

/* The bits of an answer: what any of several reads finds is held. */
static int take_bits(struct reading *r, const struct trace *trace)
{
    enum { BITS = 32 };
    size_t count = 0, ways = 0, words = (r->lines + BITS - 1) / BITS;
    const uint32_t *bits = trace_u32(trace, "held", &count);
    const uint32_t *later = trace_u32(trace, "later", &ways);
    if (!bits || !later || ways != WAYS || count != WAYS * words) {
        return lab_undecided(r->level->lab, "a trace of lines that are held lacks some");
    }
    r->later = 0;
    for (unsigned way = 0; way < WAYS; way++) {
        r->hits[way] = 0;
        r->later += later[way];
        for (size_t i = 0; i < r->lines; i++) {
            bool *held = &r->held[way][i];
            *held = *held || (bits[way * words + i / BITS] >> i % BITS & 1);
            r->hits[way] += *held;
        }
    }
    return 0;
}

static bool is_settled(const struct reading *r, unsigned way)
{
    double sets = (double)r->hits[way] / (double)(r->level->conflict.count - 1);
    size_t missed = 0;
    while (missed < r->lines && !r->held[way][missed]) {
        missed++;
    }
    return (double)missed > limits.settled * sets;
}

static unsigned reads_of(const struct level *level)
{
    return level->timing.false_slow > 0 ? limits.reads : 1;
}

static int read_once(struct reading *r, uint64_t base, bool with_later, unsigned run)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    int rc = build_request(&request, r, base, with_later, run);
    rc = rc ? rc : lab_measure(r->level->lab, &trace, &request);
    rc = rc ? rc : take_bits(r, trace);
    r->level->lab->loads += rc ? 0 : limits.each * r->lines;
    return rc;
}

/* with_later: lines that come later than when they are read again count as well. */
static int read_lines(struct reading *r, bool with_later)
{
    int rc = 0;
    for (unsigned run = 0; rc == 0 && run < reads_of(r->level); run++) {
        rc = read_once(r, 0, with_later, run);
    }
    r->settled = rc == 0 && is_settled(r, BACK) && is_settled(r, AGAIN);
    return rc;
}

static bool can_read(const struct level *level, size_t lines, uint64_t start)
{
    uint64_t loads = (uint64_t)reads_of(level) * limits.each * lines;
    return level->lab->loads - start + loads <= limits.loads &&
           lines <= to_and_fro_most_lines(level);
}

uint64_t to_and_fro_places(const struct level *level, size_t lines)
{
    uint64_t bytes = level->lab->options->max_footprint_bytes;
    return (bytes < UINT32_MAX ? bytes : UINT32_MAX) / (lines * level->line.bytes);
}

size_t to_and_fro_most_lines(const struct level *level)
{
    uint64_t room = (uint64_t)limits.window_bits * level->lab->options->max_window;
    uint64_t fit = to_and_fro_places(level, 1);
    room = room > limits.window_rest ? room - limits.window_rest : 0;
    return (size_t)(fit < room ? fit : room);
}

/* The line that tells what became of one: itself, or its neighbour where it begins or ends a page,
 * for the first one that is read there may miss translation. */
static size_t telling_line(const struct reading *r, uint64_t base, size_t i)
{
    uint64_t line = r->level->line.bytes, at = (base + i * line) % limits.page;
    bool pages = limits.page >= limits.page_lines * line;
    return pages && at < line && i + 1 < r->lines       ? i + 1
           : pages && at + line >= limits.page && i > 0 ? i - 1
                                                        : i;
}

static bool is_held(const struct reading *r, unsigned way, size_t line)
{
    return r->held[way][way == BACK ? line : r->lines - 1 - line];
}

/* Where the neighbours on both sides of a line that does not tell differ, it is as doubtful. */
static void count_way(struct held_count *out, const struct reading *r, uint64_t base, unsigned way)
{
    for (size_t i = 0; i < r->lines; i++) {
        size_t by = telling_line(r, base, i), beyond = by > i ? i - 2 : i + 2;
        out->hits += is_held(r, way, by);
        out->doubtful +=
            by != i && beyond < r->lines && is_held(r, way, by) != is_held(r, way, beyond);
    }
}

int to_and_fro_count(struct level *level, struct held_count *out, size_t lines, unsigned run)
{
    uint64_t places = to_and_fro_places(level, lines);
    uint64_t base = (places ? run % places : 0) * lines * level->line.bytes;
    struct reading r;
    *out = (struct held_count){.hits = 0};
    int rc = reading_create(&r, level, lines);
    rc = rc ? rc : read_once(&r, base, run > 0, run);
    if (rc == 0) {
        double hits = (double)(r.hits[BACK] + r.hits[AGAIN] + r.later);
        out->elsewhere = (double)r.later > limits.elsewhere * hits;
        count_way(out, &r, base, BACK);
        count_way(out, &r, base, AGAIN);
    }
    reading_free(&r);
    return rc;
}

/* How many lines so many sets hold of so many that chance has brought to them. */
static double held_by_chance(double lines, double sets, size_t ways)
{
    double held = 0;
    for (size_t n = 1; n <= ways; n++) {
        held += sets * poisson_tail(lines / sets, n);
    }
    return held;
}

static double sets_by_chance(size_t lines, size_t hits, size_t ways)
{
    double low = (double)hits / (double)ways, high = (double)lines;
    for (unsigned i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(held_by_chance((double)lines, middle, ways) < (double)hits ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* So many lines that chance leaves hardly a set short, and those that miss behind them. */
static size_t enough_lines(double sets, size_t ways)
{
    double each = (double)ways;
    while (sets * (1 - poisson_tail(each, ways)) > limits.empty) {
        each += 1;
    }
    return (size_t)((each + limits.settled + 1) * sets);
}

static size_t first_number(const struct level *level, size_t ways)
{
    double fits = (double)level->fit.count;
    size_t spread = (size_t)(fits * (1 + limits.spread_ways / sqrt((double)ways)));
    return level->crowded_sets > 0 ? enough_lines(level->crowded_sets, ways) : spread;
}

static size_t next_number(const struct reading *r, size_t ways)
{
    double lines = (double)r->lines, hits = (double)r->hits[BACK];
    size_t longer = (size_t)(limits.longer * lines);
    size_t enough = hits == 0 || hits > limits.nearly_all * lines
                        ? (size_t)(limits.twice * lines)
                        : enough_lines(sets_by_chance(r->lines, r->hits[BACK], ways), ways);
    return enough > longer ? enough : longer;
}

/* Where few lines came later, they missed translation: then they count. */
static int settle(struct reading *r)
{
    bool parts = (double)r->later > limits.elsewhere * (double)(r->hits[BACK] + r->hits[AGAIN]);
    return r->settled && r->later && !parts ? read_lines(r, true) : 0;
}

static int judge(const struct reading *r, size_t ways)
{
    struct lab *lab = r->level->lab;
    size_t back = r->hits[BACK], again = r->hits[AGAIN];
    return back == 0 || again == 0
               ? lab_undecided(lab, "of %zu lines read to and fro none is held%s", r->lines,
                               r->later ? " that comes as soon as when it is read again" : "")
           : back != again
               ? lab_undecided(lab, "of %zu lines read to and fro %zu are held, and %zu", r->lines,
                               back, again)
           : back % ways != 0
               ? lab_undecided(lab, "%zu lines that are held are no multiple of the ways", back)
               : 0;
}

bool to_and_fro_applies(const struct level *level)
{
    const char *op = level->info->op;
    bool is_global = strcmp(op, "ca") == 0 || strcmp(op, "cg") == 0;
    return is_global && !level->filler && !level->timing.mirror.sum;
}

int to_and_fro(struct level *level, size_t *held, bool *answered)
{
    uint64_t start = level->lab->loads;
    size_t ways = level->conflict.count - 1, lines = first_number(level, ways);
    bool settled = false;
    *held = 0;
    *answered = false;
    for (unsigned round = 0; !settled && round < limits.rounds; round++) {
        struct reading r;
        if (!can_read(level, lines, start)) {
            break;
        }
        int rc = reading_create(&r, level, lines);
        rc = rc ? rc : read_lines(&r, false);
        *answered = *answered || rc == 0;
        rc = rc ? rc : settle(&r);
        settled = r.settled;
        rc = rc || !settled ? rc : judge(&r, ways);
        lines = rc || settled ? lines : next_number(&r, ways);
        *held = settled ? r.hits[BACK] < r.hits[AGAIN] ? r.hits[BACK] : r.hits[AGAIN] : 0;
        reading_free(&r);
        if (rc) {
            return rc;
        }
    }
    return settled
               ? 0
               : lab_undecided(level->lab, "reading %zu lines to and fro takes too long", lines);
}
