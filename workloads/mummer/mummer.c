/*
 * Host side of the matching. Size: queries of 25 letters; depth: letters of the reference, 140000
 * where it is not said. The reference is the beginning of a genome as long as that of Bacillus
 * anthracis Ames (GenBank AE016879); queries are cut out of the whole genome, as Bakhoda et al.
 * 2009 have them (section 2.4), one in four after a mutation: most match by chance, for some
 * letters. The genome is random, with passages repeated from further up, some changed a little, as
 * genomes have them: the real one is not at hand. The tree is built by Ukkonen's algorithm (1995);
 * what the host checks against is not the tree, but the sorted list of all suffixes.
 */
#include "workloads/workload.h"

#include <stdlib.h>
#include <string.h>

#include "isa/image.h"
#include "util/error.h"
#include "workloads/mummer/tree.h"

#define LETTERS 25
#define BLOCK 64
#define WIDTH 2048
#define GENOME 5227293
#define REFERENCE 140000
#define REFERENCE_MIN 100
#define REFERENCE_MAX 4000000
#define QUERIES_MAX 10000000

static void make_text(struct workbench *bench, uint8_t *text, uint32_t length)
{
    for (uint32_t i = 0; i < length;) {
        uint32_t run = 20 + (uint32_t)rng_below(&bench->rng, 200);
        bool repeated = i > 2 * run && rng_below(&bench->rng, 4) == 0;
        uint32_t from = repeated ? (uint32_t)rng_below(&bench->rng, i - run) : 0;
        for (uint32_t k = 0; k < run && i < length; k++, i++) {
            bool copied = repeated && rng_below(&bench->rng, 50) != 0;
            text[i] = copied ? text[from + k] : (uint8_t)rng_below(&bench->rng, 4);
        }
    }
}

static void make_queries(struct workbench *bench, uint8_t *queries, const uint8_t *genome)
{
    for (uint32_t i = 0; i < bench->size; i++) {
        uint8_t *query = queries + (size_t)i * LETTERS;
        memcpy(query, genome + rng_below(&bench->rng, GENOME - LETTERS), LETTERS);
        if (rng_below(&bench->rng, 4) == 0) {
            query[rng_below(&bench->rng, LETTERS)] ^= 1;
        }
    }
}

static int compare(const void *a, const void *b)
{
    return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b, LETTERS);
}

static uint32_t common(const uint8_t *a, const uint8_t *b, uint32_t limit)
{
    uint32_t length = 0;
    while (length < limit && a[length] == b[length]) {
        length++;
    }
    return length;
}

/* The longest beginning of `query` that some suffix has: one of the two that it would stand
 * between has it. */
static uint32_t longest(const uint8_t *const *suffixes, uint32_t count, const uint8_t *query,
                        uint32_t limit)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memcmp(suffixes[middle], query, limit) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t after = low < count ? common(suffixes[low], query, limit) : 0;
    uint32_t before = low > 0 ? common(suffixes[low - 1], query, limit) : 0;
    return after > before ? after : before;
}

static int check(struct workbench *bench, const uint8_t *got, const uint8_t *queries,
                 const uint8_t *text, uint32_t length)
{
    const uint8_t **suffixes = workbench_array(bench, length, sizeof *suffixes);
    if (!suffixes) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < length; i++) {
        suffixes[i] = text + i;
    }
    qsort(suffixes, length, sizeof *suffixes, compare);
    for (size_t at = 0; at < (size_t)bench->size * LETTERS; at++) {
        uint32_t wanted =
            longest(suffixes, length, queries + at, LETTERS - (uint32_t)(at % LETTERS));
        if (got[at] != wanted) {
            return error_set(
                SONDE_EINTERNAL,
                "query %zu matches %u letters from its letter %zu on, the host says %u",
                at / LETTERS, got[at], at % LETTERS, wanted);
        }
    }
    return 0;
}

static uint32_t rows_of(uint32_t texels)
{
    return (texels + WIDTH - 1) / WIDTH;
}

static int make_textures(struct workbench *bench, uint64_t handles[2], const struct tree *tree,
                         const uint8_t *text, uint32_t length)
{
    struct image_spec spec = {.shape = IMAGE_2D,
                              .format = {TEXEL_UNSIGNED, 32, 4},
                              .width = WIDTH,
                              .height = rows_of(2 * tree->count)};
    uint32_t *words = workbench_array(bench, (size_t)WIDTH * spec.height, 16);
    uint8_t *letters = workbench_array(bench, (size_t)WIDTH * rows_of(length), 1);
    if (!words || !letters) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        const uint32_t texels[8] = {node->start,    node->end,      node->link,     0,
                                    node->child[0], node->child[1], node->child[2], node->child[3]};
        memcpy(words + 8 * (size_t)i, texels, sizeof texels);
    }
    memcpy(letters, text, length);
    int rc = workbench_texture(bench, &handles[0], &spec, words);
    spec.format = (struct texel_format){TEXEL_UNSIGNED, 8, 1};
    spec.height = rows_of(length);
    return rc < 0 ? rc : workbench_texture(bench, &handles[1], &spec, letters);
}

int workload_mummer(struct workbench *bench)
{
    uint32_t count = bench->size;
    uint32_t length = bench->settings->depth ? bench->settings->depth : REFERENCE;
    if (length < REFERENCE_MIN || length > REFERENCE_MAX || count > QUERIES_MAX) {
        return error_set(SONDE_EINPUT,
                         "a reference of %u letters (%d to %d), %u queries (%d at most)", length,
                         REFERENCE_MIN, REFERENCE_MAX, count, QUERIES_MAX);
    }
    uint8_t *text = workbench_array(bench, GENOME, 1);
    size_t bytes = (size_t)count * LETTERS;
    uint8_t *queries = workbench_array(bench, bytes + LETTERS, 1),
            *got = workbench_array(bench, bytes, 1);
    uint64_t at, matches, handles[2];
    struct tree tree;
    if (!text || !queries || !got) {
        return SONDE_ENOMEM;
    }
    make_text(bench, text, GENOME);
    make_queries(bench, queries, text);
    /* Behind the reference no letter, so that suffixes end and can be compared. */
    memset(text + length, TREE_END, LETTERS);
    int rc = tree_build(&tree, bench, text, length);
    rc = rc < 0 ? rc : make_textures(bench, handles, &tree, text, length);
    rc = rc < 0 ? rc : workbench_upload(bench, &at, queries, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &matches, NULL, bytes);
    struct workbench_shape shape = {{(count + BLOCK - 1) / BLOCK, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "mummer", shape, &matches, &at, handles, &count);
    rc = rc < 0 ? rc : workbench_download(bench, got, matches, bytes);
    return rc < 0 ? rc : check(bench, got, queries, text, length);
}
