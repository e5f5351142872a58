/*
 * One LZ4 block: sequences of literals and matches, as the LZ4 block format's description has them.
 * A sequence begins with a token, four bits for the number of literals and four for the match's
 * length less 4; 15 is continued by bytes up to one that is not 255. Behind the literals come two
 * bytes of distance. The last sequence has literals only.
 */
#include <string.h>

#include "fatbin/fatbin.h"
#include "util/error.h"

#define MATCH_LEAST 4

struct lz4 {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_start, *out_end;
};

/* What a token's four bits mean, with the bytes that continue them. */
static bool length_read(struct lz4 *lz4, size_t *length)
{
    if (*length < 15) {
        return true;
    }
    uint8_t more;
    do {
        if (lz4->in == lz4->in_end) {
            return false;
        }
        more = *lz4->in++;
        *length += more;
    } while (more == 255);
    return true;
}

static bool literals(struct lz4 *lz4, size_t length)
{
    if (length > (size_t)(lz4->in_end - lz4->in) || length > (size_t)(lz4->out_end - lz4->out)) {
        return false;
    }
    if (length > 0) {
        memcpy(lz4->out, lz4->in, length);
    }
    lz4->in += length;
    lz4->out += length;
    return true;
}

static bool match(struct lz4 *lz4, size_t length)
{
    if (lz4->in_end - lz4->in < 2) {
        return false;
    }
    size_t distance = lz4->in[0] | (size_t)lz4->in[1] << 8;
    lz4->in += 2;
    if (!length_read(lz4, &length) || distance == 0 ||
        distance > (size_t)(lz4->out - lz4->out_start)) {
        return false;
    }
    length += MATCH_LEAST;
    if (length > (size_t)(lz4->out_end - lz4->out)) {
        return false;
    }
    /* Byte by byte: a match may reach into what it writes. */
    for (size_t i = 0; i < length; i++) {
        lz4->out[i] = *(lz4->out + i - distance);
    }
    lz4->out += length;
    return true;
}

int64_t fatbin_lz4(void *out, size_t out_bytes, const void *in, size_t in_bytes)
{
    struct lz4 lz4 = {.in = in, .out = out, .out_start = out};
    lz4.in_end = lz4.in + in_bytes;
    lz4.out_end = lz4.out + out_bytes;
    while (lz4.in < lz4.in_end) {
        uint8_t token = *lz4.in++;
        size_t length = token >> 4;
        bool good = length_read(&lz4, &length) && literals(&lz4, length);
        if (good && lz4.in == lz4.in_end) {
            break;
        }
        if (!good || !match(&lz4, token & 15)) {
            return error_set(SONDE_EINPUT, "the LZ4 block is damaged at byte %zu",
                             (size_t)(lz4.in - (const uint8_t *)in));
        }
    }
    return lz4.out - lz4.out_start;
}
