/*
 * More lines of the conflicting set: the lines after it are asked one after the other (members.c)
 * until a few are found, or until they are seen to come in rows a long way apart; then only the
 * places where a row should be are asked, farther and farther away, which tells the distance of the
 * rows to a line. Everything between the rows was asked and is not in the set. Each row is a
 * prediction: rows that are no rows have lines there as seldom as elsewhere.
 */
#include "infer/geometry/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/experiments.h"
#include "infer/geometry/members.h"
#include "util/error.h"

#define MOST_LINES 48

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide). */
static const struct {
    uint32_t batch, enough, apart, nearest, window, seen_rows, windows, between, most_between;
    uint64_t loads, bytes;
    double share, sure, seen, certain, doubtful, far, unlikely;
    uint32_t between_rows, more_rows;
} limits = {
    .batch = 256,    /* lines that are asked at once */
    .enough = 14,    /* lines of a set, where they need not be predicted */
    .apart = 6,      /* times what a row spans: the next row is farther away */
    .nearest = 64,   /* lines: what a row spans at least, for that */
    .window = 192,   /* lines to each side of where a row is expected, at least */
    .seen_rows = 10, /* rows with a line of the set, after which the distance is known */
    .between = 6,    /* rows with a line of the set that are looked for at parts of the distance */
    .most_between = 30,           /* rows that are asked there, at each part. Chosen */
    .windows = 40,                /* rows that are asked */
    .loads = 3000000,             /* loads that all this may take */
    .bytes = UINT64_C(512) << 20, /* bytes that lines are taken from, behind the first one */
    .seen = 0.4,                  /* lines for each row, at least: one is expected */
    .more_rows = 64,   /* rows that are asked at most to tell one line of each from two. Chosen */
    .certain = 0.995,  /* chance of that at which no more are asked. Chosen */
    .between_rows = 3, /* lines between rows that are asked alone */
    .far = 0.6,    /* share of the loads that rows farther away may take: more are asked. Chosen */
    .unlikely = 3, /* rows with a line of the set that are likely where none was found: by Poisson's
                      law one in e^3 has none. Chosen */
    .share = 0.5,  /* share of what is likely: fewer decide nothing */
    .sure = 0.93,  /* confidence where one number of sets alone is likely. Blind trials */
    .doubtful = 0.5, /* share of that confidence, where the lines do not lie as they should: 3 of 10
                        such numbers were right. Blind trials */
};

struct rows {
    struct level *level;
    struct eviction_set set;
    uint32_t lines[MOST_LINES]; /* of the set; none is before the first one */
    size_t count;
    uint32_t next, limit;   /* the line that is asked next, and where they end */
    size_t scanned;         /* lines of the first rows, which were asked as a whole */
    uint32_t rows, in_rows; /* that were asked one by one, and the lines found there */
    uint64_t asked;         /* lines of these, which may be several rows where they are short */
    double between; /* rows with a line of the set that are likely at a part of the distance, if one
                       of them is the distance; of the part that was asked least */
    uint64_t start;
};

static uint64_t spent(const struct rows *r)
{
    return r->level->lab->loads - r->start;
}

static bool is_spent(const struct rows *r)
{
    return spent(r) > limits.loads;
}

/* Asks lines [from, to), and adds those of the set. */
static int ask(struct rows *r, uint32_t from, uint32_t to)
{
    uint32_t lines[2 * MOST_LINES + 512], found[2 * MOST_LINES + 512];
    int rc = 0;
    while (rc == 0 && from < to && !is_spent(r) && r->count < MOST_LINES) {
        size_t count = 0, in = 0;
        for (; count < limits.batch && from + count < to; count++) {
            lines[count] = from + (uint32_t)count;
        }
        rc = eviction_set_members(&r->set, found, &in, lines, count);
        for (size_t i = 0; rc == 0 && i < in && r->count < MOST_LINES; i++) {
            r->lines[r->count++] = found[i];
        }
        from += (uint32_t)count;
    }
    return rc;
}

/* The first line of the second row, if rows are seen to be far apart. */
static size_t second_row(const struct rows *r)
{
    for (size_t i = 1; i < r->count; i++) {
        uint32_t span = r->lines[i - 1] - r->lines[0];
        span = span < limits.nearest ? limits.nearest : span;
        if (r->lines[i] - r->lines[i - 1] > limits.apart * span) {
            return i;
        }
    }
    return 0;
}

/* Lines one after the other, up to enough of them or to the end of the second row. */
static int scan(struct rows *r, size_t enough)
{
    int rc = 0;
    while (rc == 0 && r->count < enough && second_row(r) == 0 && r->next < r->limit &&
           !is_spent(r)) {
        uint32_t to = r->limit - r->next > limits.batch ? r->next + limits.batch : r->limit;
        rc = ask(r, r->next, to);
        r->next = to;
    }
    size_t second = second_row(r);
    if (rc == 0 && second) {
        uint32_t row = r->lines[second] - r->lines[0], end = r->lines[second] + limits.window;
        end = row / 4 < limits.window ? r->lines[second] + row / 4 : end;
        rc = r->next < end && end < r->limit ? ask(r, r->next, end) : 0;
    }
    return rc;
}

/* Where a row should be: `window` lines to each side. */
static int ask_around(struct rows *r, double at, uint32_t window)
{
    return at + window < r->limit ? ask(r, (uint32_t)at - window, (uint32_t)at + window) : 0;
}

/* The same, and the row counts, unless it was not asked to its end: where lines or loads run out.
 */
static int count_around(struct rows *r, double at, uint32_t window)
{
    size_t before = r->count;
    bool reached = at + window < r->limit && !is_spent(r);
    int rc = ask_around(r, at, window);
    if (rc == 0 && reached && !is_spent(r) && r->count < MOST_LINES) {
        r->rows++;
        r->asked += 2 * (uint64_t)window;
        r->in_rows += (uint32_t)(r->count - before);
    }
    return rc;
}

/*
 * A row has none of the set's lines as often as not, so the second one that has may be the third or
 * the seventh one there is: parts of the distance are asked as well, the more rows the fewer of
 * them have a line. (Of the sixth, halves and thirds tell.)
 */
static int ask_between(struct rows *r, double distance, uint32_t window, double filled)
{
    static const uint8_t parts[] = {2, 3, 4, 5, 7};
    uint32_t rows = (uint32_t)(limits.between / filled + 0.5);
    rows = rows < limits.most_between ? rows : limits.most_between;
    int rc = 0;
    r->between = limits.between;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint32_t asked = 0;
        for (uint32_t k = 0; rc == 0 && k < rows; k++) {
            double row = 1 + k + (double)(1 + k % (parts[i] - 1U)) / parts[i];
            double at = r->lines[0] + row * distance;
            rc = ask_around(r, at, window);
            asked += at + window < r->limit && !is_spent(r);
        }
        /* Hardly ever do seven rows lie between two with a line of the set. */
        r->between = parts[i] < 7 ? fmin(r->between, asked * filled) : r->between;
    }
    return rc;
}

/* Rows ever farther away, where the distance so far puts them. */
static int predict(struct rows *r)
{
    size_t second = second_row(r);
    double distance = (double)r->lines[second] - r->lines[0];
    uint32_t seen = 2, row = 2, last = 1, window = limits.window, tries = 0;
    window = window > distance / 4 ? (uint32_t)(distance / 4) : window;
    int rc = 0;
    for (; rc == 0 && tries < limits.windows && seen < limits.seen_rows &&
           (double)spent(r) < limits.far * (double)limits.loads;
         tries++) {
        size_t before = r->count;
        double at = r->lines[0] + row * distance;
        /* Farther away it may be missed. */
        rc = row <= 2 * last ? count_around(r, at, window) : ask_around(r, at, window);
        if (r->count > before) {
            distance = ((double)r->lines[r->count - 1] - r->lines[0]) / row;
            last = row;
            seen++;
        }
        row += r->count > before && seen > 4 ? row / 2 : 1;
    }
    double filled = tries ? (double)(seen - 2) / tries : 1;
    return rc ? rc : ask_between(r, distance, window, fmax(filled, 0.1));
}

/* Rows that were asked to their ends. */
static double rows_asked(const struct rows *r, const struct row_fit *fit)
{
    double sets = (double)fit->sets;
    return (double)(r->next - r->lines[0]) / sets + fmax(r->rows, (double)r->asked / sets);
}

/* Lines of the set in these, but the first one. */
static double lines_asked(const struct rows *r)
{
    return (double)r->scanned - 1 + r->in_rows;
}

static uint32_t lines_per_row(const struct rows *r, const struct row_fit *fit, double *sure)
{
    double block = rows_block(fit, r->lines, r->count); /* by so many at once */
    return rows_each(fit, rows_asked(r, fit) / block, lines_asked(r) / block,
                     r->level->crowded_sets, sure);
}

/* One more row, which may begin at any of its lines. */
static int count_row(struct rows *r, const struct row_fit *fit, uint64_t at)
{
    struct rows more = *r;
    more.count = 0;
    int rc = ask(&more, (uint32_t)at - (fit->width - 1), (uint32_t)at + fit->width);
    r->rows++;
    r->asked += fit->sets;
    r->in_rows += (uint32_t)more.count;
    return rc;
}

/* Rows behind all that were asked, until one number of lines a row is far likelier than another. */
static int count_more(struct rows *r, const struct row_fit *fit)
{
    uint32_t last = r->lines[0];
    double sure = 0;
    int rc = 0;
    for (size_t i = 0; i < r->count; i++) {
        last = r->lines[i] > last ? r->lines[i] : last;
    }
    uint64_t at = r->lines[0] + (last - r->lines[0] + fit->sets - 1) / fit->sets * fit->sets;
    lines_per_row(r, fit, &sure);
    for (unsigned i = 0; rc == 0 && i < limits.more_rows && sure < limits.certain; i++) {
        at += fit->sets;
        if (at + fit->width >= r->limit || is_spent(r)) {
            break;
        }
        rc = count_row(r, fit, at);
        lines_per_row(r, fit, &sure);
    }
    return rc;
}

/*
 * As many lines as rows: fewer, and the sets of a row are hashed once more. And a line between two
 * rows must not be in the set when it is asked alone: where it is, whatever lies in another page
 * is, and it is translation that misses.
 */
static int confirm(struct rows *r, const struct row_fit *fit)
{
    double seen = (double)r->count - 1, rows = rows_asked(r, fit);
    int rc = 0;
    if (seen < limits.seen * rows) {
        r->level->slice_lines = fit->width;
        r->level->slice_period = fit->period;
        return lab_undecided(r->level->lab, "%.0f lines of a set in %.0f rows of %u", seen, rows,
                             fit->width);
    }
    uint64_t lines = r->set.ways * fit->sets / 2; /* of which a row may have two */
    if (!r->level->large && lines < r->level->fit.count) {
        return lab_undecided(r->level->lab, "rows make %llu lines, and %zu fit",
                             (unsigned long long)lines, r->level->fit.count);
    }
    for (uint32_t i = 1; rc == 0 && i <= limits.between_rows && i < r->count; i++) {
        uint32_t line = r->lines[i] + (uint32_t)(fit->sets / 2);
        bool in = false;
        rc = fit->sets > 2 * (uint64_t)fit->width && line < r->limit
                 ? eviction_set_any(&r->set, &in, &line, 1)
                 : 0;
        if (rc == 0 && in) {
            rc = lab_undecided(r->level->lab, "a line between the rows of a set is in it as well");
        }
    }
    return rc;
}

static int report(struct level *level, const struct rows *r, const struct row_fit *fit)
{
    char id[24];
    struct cache_result *result = level->result;
    double ways = (double)r->set.ways, sure = 1;
    uint32_t each = lines_per_row(r, fit, &sure);
    uint64_t sets = fit->sets / each;
    double confidence = limits.sure * fit->share * sure;
    double filled = lines_asked(r) / rows_asked(r, fit);
    bool told = r->between >= limits.unlikely && rows_as_hashed(fit, r->lines, r->count, filled);
    confidence *= told ? 1 : limits.doubtful;
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: lines walked past %zu that fill a set: %zu that share it lie in every "
        "%u-th row of %u lines, up to line %u; a row has about %u, so there are %llu sets",
        level->info->op, r->set.ways, r->count, fit->period, fit->width, r->lines[r->count - 1],
        each, (unsigned long long)sets);
    result->row_lines = fit->width;
    result->row_period = fit->period;
    result->row_apart = rows_apart(fit, r->lines, r->count);
    level->size_bytes = (uint64_t)ways * sets * level->line.bytes;
    attribute_set(&result->sets, (double)sets, "1", confidence, id);
    attribute_set(&result->ways, ways, "1", limits.sure, id);
    attribute_set(&result->size, (double)level->size_bytes, "B", confidence, id);
    return 0;
}

int level_rows(struct level *level)
{
    struct rows *r = calloc(1, sizeof *r);
    struct row_fit fit;
    if (!r) {
        return error_memory();
    }
    *r = (struct rows){.level = level, .start = level->lab->loads, .between = limits.between};
    int rc = eviction_set_of_conflict(&r->set, level);
    r->lines[r->count++] = r->set.member[r->set.ways - 1];
    r->next = r->lines[0] + 1;
    uint64_t bytes = level->lab->options->max_footprint_bytes;
    uint64_t most = limits.bytes + r->lines[0] * level->line.bytes;
    r->limit = (uint32_t)((bytes < most ? bytes : most) / level->line.bytes);
    rc = rc ? rc : scan(r, limits.enough);
    r->scanned = r->count;
    rc = rc || second_row(r) == 0 ? rc : predict(r);
    bool fits = rc == 0 && rows_fit(&fit, r->lines, r->count);
    if (rc == 0 && !fits && second_row(r) == 0) { /* short periods take more lines */
        rc = scan(r, MOST_LINES);
        r->scanned = r->count;
        fits = rc == 0 && rows_fit(&fit, r->lines, r->count);
    }
    if (fits && fit.share >= limits.share) {
        rc = confirm(r, &fit);
        rc = rc ? rc : count_more(r, &fit);
        rc = rc ? rc : report(level, r, &fit);
    } else if (rc == 0) {
        rc = lab_undecided(level->lab, "%zu lines of a set lie in no rows", r->count);
    }
    free(r);
    return rc;
}
