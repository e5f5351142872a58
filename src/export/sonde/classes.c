/*
 * Hits of an L2 whose slices lie near and far, and loads from memory behind one of several parts. A
 * class of hits is told by its median and the 5 and 95 % quantiles; each half of it is taken for
 * even between the median and an end, of lines at home and, in the other half, of copies, which
 * take longer.
 */
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/divisor.h"
#include "util/glue/json_glue.h"

/* Fixed by: sample_classes(), and the chains of tests/infer/h200. */
static const struct {
    double outside, apart, same, tail, late, whole, share, even;
    uint64_t most_slices;
} limits = {
    .whole = 0.2, /* of a slice: what a class of hits lacks of a whole number of them. Chosen */
    .most_slices = 64, /* more are not told apart from chance by some thousand lines */
    .tail = 0.1,       /* share of hits that have waited for something else, at most. Chosen */
    .late = 16,        /* cycles: less is how far a slice lies. Chosen */
    .outside = 0.05,   /* share of a class that its quantiles leave out at either end */
    .share = 0.1,      /* of a class of hits, and of the misses behind it. Chosen */
    .even = 0.1,       /* of a class's breadth: a median so near its middle is there. Chosen */
    .same = 1.5,       /* cycles between two medians that should be one */
    .apart = 0.05,     /* of two shares of about a thousand lines: three standard deviations */
};

static const json_t *classes_of(const json_t *cache)
{
    return json_object_get(cache, "hit_latencies");
}

/* How many of the classes are slices, near and far: few hits that lie farther behind those before
 * them than these are broad have missed translation, or crossed to another part. */
static size_t classes_of_slices(const json_t *classes)
{
    size_t count = json_array_size(classes);
    const json_t *first = json_array_get(classes, 0);
    double share = 0, begin = json_number_of(first, "low");
    for (size_t i = count; i-- > 1;) {
        const json_t *last = json_array_get(classes, i), *before = json_array_get(classes, i - 1);
        double broad = json_number_of(before, "high") - begin;
        share += json_number_of(last, "share");
        if (share > limits.tail) {
            break;
        }
        if (json_number_of(last, "low") - json_number_of(before, "high") >
            fmax(broad, limits.late)) {
            count = i;
        }
    }
    return count;
}

void model_leave_late_hits(json_t *root)
{
    json_t *classes =
        json_object_get(json_find_id(json_object_get(root, "caches"), "l2"), "hit_latencies");
    size_t count = classes_of_slices(classes);
    while (json_array_size(classes) > count) {
        json_array_remove(classes, json_array_size(classes) - 1);
    }
}

double class_span(const json_t *cache)
{
    const json_t *classes = classes_of(cache);
    size_t count = json_array_size(classes);
    return count < 2 ? 0
                     : json_number_of(json_array_get(classes, count - 1), "cycles") -
                           json_number_of(json_array_get(classes, 0), "cycles");
}

double class_breadth(const json_t *cache)
{
    const json_t *classes = classes_of(cache), *one = json_array_get(classes, 0);
    return json_array_size(classes) == 1 ? json_number_of(one, "high") - json_number_of(one, "low")
                                         : 0;
}

/* A class of about so many cycles and that share, which may be `apart` from it. */
static bool has_class(const json_t *classes, double cycles, double share, double apart)
{
    size_t i;
    json_t *one;
    json_array_foreach(classes, i, one)
    {
        if (fabs(json_number_of(one, "cycles") - cycles) <= limits.same &&
            fabs(json_number_of(one, "share") - share) <= apart) {
            return true;
        }
    }
    return false;
}

/* The nearest class has one behind it that is as large, the farthest one before it. Classes that
 * are as broad do not tell it, and none at all neither. */
bool class_shows_copies(const json_t *l2, uint32_t copy_cycles)
{
    const json_t *classes = classes_of(l2);
    size_t count = json_array_size(classes);
    const json_t *first = json_array_get(classes, 0), *last = json_array_get(classes, count - 1);
    if (count == 0 || json_number_of(first, "high") - json_number_of(first, "low") >= copy_cycles) {
        return true;
    }
    return has_class(classes, json_number_of(first, "cycles") + copy_cycles,
                     json_number_of(first, "share"), limits.apart) &&
           has_class(classes, json_number_of(last, "cycles") - copy_cycles,
                     json_number_of(last, "share"), limits.apart);
}

double class_mean(const json_t *cache, double otherwise)
{
    size_t i;
    json_t *one;
    double sum = 0, shares = 0;
    json_array_foreach(classes_of(cache), i, one)
    {
        sum += json_number_of(one, "share") * json_number_of(one, "cycles");
        shares += json_number_of(one, "share");
    }
    return shares > 0 ? sum / shares : otherwise;
}

/* So many slices of equal share make up the classes, each of which is one latency: else false. */
static bool are_slices(const json_t *classes, uint64_t slices)
{
    double sum = 0;
    size_t i;
    json_t *one;
    json_array_foreach(classes, i, one)
    {
        double exact = json_number_of(one, "share") * (double)slices, whole = round(exact);
        double broad = json_number_of(one, "high") - json_number_of(one, "low");
        if (whole < 1 || fabs(exact - whole) > limits.whole || broad > limits.same) {
            return false;
        }
        sum += whole;
    }
    return sum == (double)slices;
}

uint64_t class_slices(const json_t *l2)
{
    const json_t *classes = classes_of(l2);
    uint64_t slices = json_array_size(classes);
    if (slices < 3) { /* two may be parts, or translation that missed */
        return 0;
    }
    while (slices <= limits.most_slices && !are_slices(classes, slices)) {
        slices++;
    }
    return slices <= limits.most_slices ? slices : 0;
}

/* A class's lines at home: half of them lie before `middle`. */
struct ends {
    double begin, middle, end;
};

/* Between two quantiles, beyond each of which is that share of the lines. */
static struct ends ends_of(double low, double median, double high, double outside)
{
    double middle = (low + high) / 2;
    if (fabs(median - middle) > limits.even * (high - low)) {
        middle = fmin(fmax(median, low), high);
    }
    return (struct ends){.begin = (low - 2 * outside * middle) / (1 - 2 * outside),
                         .middle = middle,
                         .end = (high - 2 * outside * middle) / (1 - 2 * outside)};
}

/* Its copies lie `copy` farther; where they are farther than the class is broad they are another
 * class. */
static struct ends class_ends(const json_t *one, double copy)
{
    double low = json_number_of(one, "low"), high = fmax(low, json_number_of(one, "high"));
    double median = json_number_of(one, "cycles");
    copy = copy <= high - low ? copy : 0;
    /* Up to the quantile there are lines at home alone: half of what the share is of all. */
    double width = (high - low - copy) / (1 - 4 * limits.outside);
    return copy >= 2 * limits.outside * width
               ? ends_of(low, median - copy / 2, high - copy, 2 * limits.outside)
               : ends_of(low - copy / 2, median - copy / 2, high - copy / 2, limits.outside);
}

/* Where that share of the class's lines lies at most. */
static double quantile(const struct ends *ends, double share)
{
    return share < 0.5 ? ends->begin + 2 * share * (ends->middle - ends->begin)
                       : ends->middle + (2 * share - 1) * (ends->end - ends->middle);
}

/* The mean of hits: of untimed ones and what a record adds, where they were told, else of classes.
 */
static double hit_mean(const json_t *cache, uint32_t record)
{
    struct saved_value untimed;
    bool is_told = saved_value(&untimed, cache, "load_to_use_latency");
    return is_told ? untimed.value + record : class_mean(cache, 0);
}

/* The share of a class. Of two, the one that gives the mean of untimed hits, which is compared. */
static double class_share(const json_t *cache, size_t i, uint32_t record)
{
    const json_t *classes = classes_of(cache);
    double told = json_number_of(json_array_get(classes, i), "share");
    if (json_array_size(classes) != 2) {
        return told;
    }
    double near = json_number_of(json_array_get(classes, 0), "cycles"), span = class_span(cache);
    double far_share = (hit_mean(cache, record) - near) / span;
    if (span <= 0 || fabs(far_share - (i ? told : 1 - told)) > limits.apart) {
        return told;
    }
    return i ? far_share : 1 - far_share;
}

/* The first slice beyond those of the first `i` classes, whose share that is. */
static uint64_t slices_until(const json_t *classes, size_t i, double share, uint64_t slices)
{
    uint64_t until = (uint64_t)(share * (double)slices + 0.5);
    return i == json_array_size(classes) || until > slices ? slices : until;
}

double class_nearest(const json_t *l2, const struct parts_plan *parts)
{
    const json_t *classes = classes_of(l2), *first = json_array_get(classes, 0);
    struct ends ends = class_ends(first, parts->copy_cycles);
    uint64_t own =
        slices_until(classes, 1, class_share(l2, 0, parts->record_cycles), parts->slices);
    return round(quantile(&ends, 0.5 / (double)(own ? own : 1)));
}

/* How far the k-th slice lies, from the nearest on. */
static double distance_of(const json_t *l2, const struct parts_plan *parts, uint64_t k)
{
    const json_t *classes = classes_of(l2);
    uint64_t done = 0;
    double share = 0;
    for (size_t i = 0; i < json_array_size(classes); i++) {
        struct ends ends = class_ends(json_array_get(classes, i), parts->copy_cycles);
        share += class_share(l2, i, parts->record_cycles);
        uint64_t until = slices_until(classes, i + 1, share, parts->slices);
        if (k < until) {
            double along = ((double)(k - done) + 0.5) / (double)(until - done);
            return quantile(&ends, along) - class_nearest(l2, parts);
        }
        done = until > done ? until : done;
    }
    return 0;
}

/*
 * Which slices are near was not measured. Where lines go to them in turn, neighbours in a row are
 * dealt out over near and far ones, so that any few lines beside each other have both, beginning in
 * the middle; a hash does so by itself.
 */
static uint64_t dealt(uint64_t k, uint64_t slices)
{
    uint64_t step = slices * 3 / 8 + 1;
    while (common_divisor(step, slices) != 1) {
        step++;
    }
    return (slices / 2 + k * step) % slices;
}

void model_distances(struct model_text *t, const json_t *l2, const struct parts_plan *parts)
{
    uint64_t slices = parts->slices;
    bool is_dealt = parts->count == 1 && class_slices(l2) == slices;
    struct strbuf list = {0};
    for (uint64_t k = 0; k < slices; k++) {
        double more = distance_of(l2, parts, is_dealt ? dealt(k, slices) : k);
        strbuf_printf(&list, "%s%.0f", k ? ", " : "", more > 0.5 ? more : 0);
    }
    model_line(t, 1, "measured: the classes of hits, l2.hit_latencies", "slice_latency: [%s]",
               strbuf_text(&list));
    strbuf_free(&list);
}

/* Behind each class of hits, so many cycles away, lies a class of misses with about its share. */
static bool lie_beyond(const json_t *hits, const json_t *misses, double cycles)
{
    size_t i;
    json_t *hit;
    json_array_foreach(hits, i, hit)
    {
        if (!has_class(misses, json_number_of(hit, "cycles") + cycles, json_number_of(hit, "share"),
                       limits.share)) {
            return false;
        }
    }
    return true;
}

void class_beyond(double *cycles, const json_t *l2)
{
    const json_t *hits = classes_of(l2), *misses = json_object_get(l2, "miss_latencies");
    double first = json_number_of(json_array_get(hits, 0), "cycles"), told = *cycles;
    double nearest = INFINITY;
    size_t k;
    json_t *miss;
    json_array_foreach(misses, k, miss)
    {
        double beyond = json_number_of(miss, "cycles") - first;
        if (fabs(beyond - told) < fabs(nearest - told) && lie_beyond(hits, misses, beyond)) {
            nearest = beyond;
        }
    }
    *cycles = json_array_size(hits) > 1 && isfinite(nearest) ? nearest : told;
}

/* Loads of an op from memory, by their kinds. */
struct kinds {
    double nearest, sum, loads; /* the sum without what far ones take more */
    bool is_through_l1;
    size_t count;
};

/* The kinds of access of an op that go to memory and hit the TLB. What lies farther than crossing
 * explains has waited for something else. */
static struct kinds kinds_of(const json_t *rows, const char *op, double span, double across)
{
    struct kinds kinds = {.is_through_l1 = strcmp(op, "ca") == 0};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        struct saved_value value;
        if (!saved_kind(&value, row, "P4", op)) {
            continue;
        }
        double loads = json_number_of(row, "loads");
        kinds.nearest = kinds.count == 0 ? value.value : kinds.nearest; /* they come in order */
        double more = value.value - kinds.nearest;
        if (more > 2 * across) {
            continue;
        }
        kinds.sum += loads * (value.value - (more > (span + across) / 2 ? across : 0));
        kinds.loads += loads;
        kinds.count++;
    }
    return kinds;
}

/* Of each class of hits two kinds go to memory, at home and across. The nearest of both are the
 * same slices; farther kinds hold as well loads that have waited. Hits are copies as often as not.
 */
static double nearest_beyond(const struct kinds *kinds, const json_t *l2, double copy)
{
    const json_t *first = json_array_get(classes_of(l2), 0);
    bool has_copies = copy <= json_number_of(first, "high") - json_number_of(first, "low");
    return kinds->nearest - (json_number_of(first, "cycles") - (has_copies ? copy / 2 : 0));
}

/* What loads of an op take in the mean that are of a kind; 0: none were told. */
static double mean_of(const json_t *rows, const char *op, const char *pattern)
{
    double sum = 0, loads = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        struct saved_value value;
        if (saved_kind(&value, row, pattern, op)) {
            sum += value.value * json_number_of(row, "loads");
            loads += json_number_of(row, "loads");
        }
    }
    return loads > 0 ? sum / loads : 0;
}

/* What loads through L1 that hit L2 take more than those past it; 0: not told, or few of each lie
 * in several classes. */
static double through_l1(const json_t *rows, const json_t *l2)
{
    double through = mean_of(rows, "ca", "P1-l2"), past = mean_of(rows, "cg", "P1");
    bool is_one = json_array_size(classes_of(l2)) == 1;
    return is_one && through > 0 && past > 0 ? fmax(0, through - past) : 0;
}

const char *kinds_beyond_l2(double *cycles, const struct model_text *t,
                            const struct parts_plan *parts, double across)
{
    const json_t *l2 = saved_cache(t->root, "l2");
    const json_t *rows = json_object_get(t->root, "latency_patterns");
    struct kinds most = {0};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        struct kinds kinds = kinds_of(rows, saved_text(row, "op", ""), class_span(l2), across);
        most = kinds.count > 1 && kinds.loads > most.loads ? kinds : most;
    }
    /* What loads of this op take in L1, and all of them for another row: walks find rows open. */
    double own = (most.is_through_l1 ? through_l1(rows, l2) : 0) + t->bandwidth.other_row;
    if (most.loads > 0 && most.count == 2 * json_array_size(classes_of(l2))) {
        *cycles = nearest_beyond(&most, l2, parts->copy_cycles) - own;
        return "what the nearest lines take beyond the nearest hits, kinds of access";
    }
    double hit = hit_mean(l2, parts->record_cycles);
    if (most.loads <= 0 || hit <= 0) {
        return NULL;
    }
    /* Half of the hits were copies. */
    *cycles =
        most.sum / most.loads - own - t->bandwidth.mean_row - (hit - parts->copy_cycles / 2.0);
    return "what near and far lines take, the mean of kinds of access";
}
