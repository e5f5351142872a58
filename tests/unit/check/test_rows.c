/* The row loops of the checker against what they stand for, word by word, and against each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "check/rows.h"
#include "util/rng.h"

enum { CASES = 4000, GRANULES = 4 * WARP_LANES, TAG = 5, BLOCK = 7, WARP = 3, PC = 99 };

struct side {
    uint32_t words[GRANULES], writes[GRANULES], reads[GRANULES], more[GRANULES], atomics[GRANULES];
    uint32_t write_pcs[GRANULES], read_pcs[GRANULES];
};

static struct watched_cta watched_of(struct side *s, struct check_launch *launch)
{
    return (struct watched_cta){.launch = launch,
                                .number = BLOCK,
                                .granules = GRANULES,
                                .begin = 2u << TIME_SHIFT,
                                .writes = s->writes,
                                .reads = s->reads,
                                .more_reads = s->more,
                                .atomics = s->atomics,
                                .write_pcs = s->write_pcs,
                                .read_pcs = s->read_pcs};
}

/* One of a few words, most of them harmless: `odd` in 64 are any. */
static uint32_t word_of(struct rng *rng, uint32_t odd)
{
    static const uint32_t kinds[] = {READ, READ_BY_SEVERAL, ATOMIC, ATOMIC_BY_SEVERAL, WRITTEN};
    if (rng_below(rng, 64) >= odd)
        return rng_below(rng, 2) ? (TAG - 1) << TAG_SHIFT | WRITTEN | BLOCK : 0;
    return (uint32_t)(TAG - rng_below(rng, 2)) << TAG_SHIFT | kinds[rng_below(rng, 5)] |
           (uint32_t)rng_below(rng, 16) << BYTES_SHIFT | (uint32_t)(BLOCK + rng_below(rng, 2));
}

static uint32_t record_of(struct rng *rng, uint32_t odd, uint32_t lane)
{
    if (rng_below(rng, 64) >= odd)
        return 3u << TIME_SHIFT | (uint32_t)rng_below(rng, 4) << WARP_SHIFT | lane;
    return (uint32_t)(1 + rng_below(rng, 5)) << TIME_SHIFT |
           (uint32_t)(WARP + rng_below(rng, 2)) << WARP_SHIFT | (uint32_t)rng_below(rng, 64);
}

static void fill(struct side *s, struct rng *rng)
{
    static const uint32_t odds[] = {0, 1, 64};
    uint32_t odd = odds[rng_below(rng, 3)], odd_reads = odds[rng_below(rng, 3)];
    for (uint32_t i = 0; i < GRANULES; i++) {
        s->words[i] = word_of(rng, odd);
        s->writes[i] = record_of(rng, odd, i % WARP_LANES);
        s->atomics[i] = record_of(rng, odd, i % WARP_LANES);
        s->reads[i] = record_of(rng, odd_reads, i % WARP_LANES);
        s->more[i] = record_of(rng, odd_reads, i % WARP_LANES);
        s->write_pcs[i] = s->read_pcs[i] = i;
    }
}

enum {
    ROW_READ,
    ROW_WRITE,
    ROW_LOAD,
    ROW_STORE,
    ROW_SETTLED,
    ROW_HALVES,
    ROW_LISTED,
    ROW_LISTED_STORE,
    ROWS
};

/* Some of the lanes, each at a granule of its own. */
static struct row_list list_of(const struct calm *c)
{
    struct row_list list = {0};
    for (uint32_t lane = 0; lane < WARP_LANES; lane += 1 + lane % 3 / 2) {
        list.granule[list.count] = lane * 3 + 1;
        list.record[list.count++] = c->me | lane;
    }
    return list;
}

static bool run(const struct row_table *t, uint32_t row, struct watched_cta *cta, struct side *s,
                const struct calm *c)
{
    uint32_t words = WARP_LANES * c->each - c->each * 3; /* no whole vectors */
    const struct row_list list = list_of(c);
    switch (row) {
    case ROW_READ:
        return t->read(cta, s->words, words);
    case ROW_WRITE:
        return t->write(cta, s->words, words);
    case ROW_LOAD:
        return t->load(cta, 0, c, PC);
    case ROW_STORE:
        return t->store(cta, 0, c, PC);
    case ROW_SETTLED:
        return t->load_settled(cta, 1, WARP_LANES, 0, c, PC);
    case ROW_HALVES:
        return t->load_settled(cta, 1, WARP_LANES / 2, SEVERAL, c, PC);
    case ROW_LISTED:
        return t->load_listed(cta, &list, c, PC);
    default:
        return t->store_listed(cta, &list, c, PC);
    }
}

/* What every table must give alike: what it says, and what it leaves. */
static void tables_agree(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 17);
    uint32_t calm[ROWS] = {0}, closer[ROWS] = {0};
    for (uint32_t n = 0; n < CASES; n++) {
        static struct side before, first, now;
        struct check_launch launch = {.tag = TAG};
        struct calm c = {.limit = (4u << TIME_SHIFT) - 1,
                         .me = 5u << TIME_SHIFT | WARP << WARP_SHIFT,
                         .own = rng_below(&rng, 2) ? 63u << WARP_SHIFT : (1u << TIME_SHIFT) - 1,
                         .each = 1u << rng_below(&rng, 3)};
        uint32_t row = n % ROWS;
        fill(&before, &rng);
        first = before;
        struct watched_cta cta = watched_of(&first, &launch);
        bool good = run(rows_at(0), row, &cta, &first, &c);
        *(good ? &calm[row] : &closer[row]) += 1;
        if (!good)
            assert_memory_equal(&first, &before, sizeof first);
        else
            assert_memory_not_equal(&first, &before, sizeof first);
        for (uint32_t i = 1; rows_at(i); i++) {
            now = before;
            cta = watched_of(&now, &launch);
            assert_int_equal(run(rows_at(i), row, &cta, &now, &c), good);
            assert_memory_equal(&now, &first, sizeof now);
        }
    }
    for (uint32_t row = 0; row < ROWS; row++) { /* both were seen */
        assert_true(calm[row] > 20);
        assert_true(closer[row] > 20);
    }
}

/* Lane by lane, a granule that another warp reads keeps its record, and the second takes this. */
static void settled_row_keeps_others_reads(void **state)
{
    (void)state;
    for (uint32_t k = 0; rows_at(k); k++) {
        static struct side s;
        struct check_launch launch = {.tag = TAG};
        struct watched_cta cta = watched_of(&s, &launch);
        struct calm c = {.limit = (4u << TIME_SHIFT) - 1,
                         .me = 5u << TIME_SHIFT | WARP << WARP_SHIFT,
                         .each = 1};
        memset(&s, 0, sizeof s);
        for (uint32_t i = 0; i < WARP_LANES; i++)
            s.writes[i] = 3u << TIME_SHIFT;
        s.reads[2] = 5u << TIME_SHIFT | (WARP + 1) << WARP_SHIFT; /* another warp's, unordered */
        s.reads[3] = c.me | 9;                                    /* this one's, of another lane */
        assert_true(rows_at(k)->load_settled(&cta, 0, WARP_LANES, 0, &c, PC));
        assert_int_equal(s.reads[1], c.me | 1);
        assert_int_equal(s.read_pcs[1], PC);
        assert_int_equal(s.reads[2], 5u << TIME_SHIFT | (WARP + 1) << WARP_SHIFT);
        assert_int_equal(s.read_pcs[2], 0);
        assert_int_equal(s.more[2], c.me | 2);
        assert_int_equal(s.reads[3], c.me | 3 | SEVERAL);
        s.writes[4] = c.me; /* unordered */
        assert_false(rows_at(k)->load_settled(&cta, 0, WARP_LANES, 0, &c, PC));
    }
}

/* Granules one behind the other, by their list or as a row: the same. */
static void list_is_a_row(void **state)
{
    struct rng rng;
    uint32_t good[2] = {0};
    (void)state;
    rng_seed(&rng, 18);
    for (uint32_t n = 0; n < CASES; n++) {
        static struct side before, row, listed;
        const struct row_table *t = rows_at(n % 3) ? rows_at(n % 3) : rows_at(0);
        struct check_launch launch = {.tag = TAG};
        struct calm c = {.limit = (4u << TIME_SHIFT) - 1,
                         .me = 5u << TIME_SHIFT | WARP << WARP_SHIFT,
                         .own = rng_below(&rng, 2) ? 63u << WARP_SHIFT : (1u << TIME_SHIFT) - 1,
                         .each = 1};
        struct row_list list = {.count = WARP_LANES};
        for (uint32_t i = 0; i < WARP_LANES; i++) {
            list.granule[i] = i;
            list.record[i] = c.me | i;
        }
        fill(&before, &rng);
        row = listed = before;
        struct watched_cta of_row = watched_of(&row, &launch);
        struct watched_cta of_list = watched_of(&listed, &launch);
        bool store = n / 3 % 2;
        bool as_row = store ? t->store(&of_row, 0, &c, PC)
                            : t->load_settled(&of_row, 0, WARP_LANES, 0, &c, PC);
        bool as_list = store ? t->store_listed(&of_list, &list, &c, PC)
                             : t->load_listed(&of_list, &list, &c, PC);
        assert_int_equal(as_row, as_list);
        assert_memory_equal(&row, &listed, sizeof row);
        good[store] += as_row;
    }
    assert_true(good[0] > 20 && good[1] > 20);
}

/* A word of the launch that another block wrote wants a closer look; its reads make it several's.
 */
static void words_of_others(void **state)
{
    (void)state;
    for (uint32_t k = 0; rows_at(k); k++) {
        uint32_t words[WARP_LANES] = {0}, tag = (uint32_t)TAG << TAG_SHIFT;
        struct check_launch launch = {.tag = TAG};
        struct watched_cta cta = {.launch = &launch, .number = BLOCK};
        words[5] = tag | READ | ALL_BYTES | (BLOCK + 1);
        assert_true(rows_at(k)->read(&cta, words, WARP_LANES));
        assert_int_equal(words[4], tag | READ | ALL_BYTES | BLOCK);
        assert_int_equal(words[5], tag | READ_BY_SEVERAL | ALL_BYTES);
        assert_false(rows_at(k)->write(&cta, words, WARP_LANES));
        words[5] = tag | WRITTEN | ALL_BYTES | (BLOCK + 1);
        assert_false(rows_at(k)->read(&cta, words, WARP_LANES));
        assert_true(rows_at(k)->write(&cta, words, 5));
        assert_int_equal(words[4], tag | WRITTEN | ALL_BYTES | BLOCK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_agree), cmocka_unit_test(list_is_a_row),
        cmocka_unit_test(settled_row_keeps_others_reads), cmocka_unit_test(words_of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
