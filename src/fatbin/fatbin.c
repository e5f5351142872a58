/*
 * Containers and entries are read where they lie, field by field; every offset is held against the
 * bytes that are there before it is followed.
 */
#include "fatbin/fatbin.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "util/error.h"

#define ENTRY_HEADER_LEAST 64u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAGS_SPECIFIC 0x300000u /* "a" and "f" targets */

static uint64_t read_bytes(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << 8 * i;
    }
    return value;
}

int fatbin_container_bytes(uint64_t *bytes, const void *data, size_t readable)
{
    const uint8_t *at = data;
    if (readable < FATBIN_HEADER_BYTES) {
        return error_set(SONDE_EINPUT, "fat binary: %zu bytes are no container", readable);
    }
    uint32_t magic = (uint32_t)read_bytes(at, 4);
    unsigned version = (unsigned)read_bytes(at + 4, 2), header = (unsigned)read_bytes(at + 6, 2);
    uint64_t entries = read_bytes(at + 8, 8);
    if (magic != FATBIN_MAGIC) {
        return error_set(SONDE_EINPUT, "fat binary: a container begins with 0x%08x, not 0x%08x",
                         magic, FATBIN_MAGIC);
    }
    if (version != 1 || header != FATBIN_HEADER_BYTES) {
        return error_set(SONDE_EINPUT,
                         "fat binary: a container of version %u with a header of %u bytes is not "
                         "known here",
                         version, header);
    }
    if (entries > UINT64_MAX / 2) {
        return error_set(SONDE_EINPUT, "fat binary: a container of 0x%llx bytes",
                         (unsigned long long)entries);
    }
    *bytes = FATBIN_HEADER_BYTES + entries;
    return 0;
}

int fatbin_walk_start(struct fatbin_walk *walk, const void *data, size_t bytes)
{
    *walk = (struct fatbin_walk){.data = data, .bytes = bytes};
    uint64_t first;
    return fatbin_container_bytes(&first, data, bytes);
}

/* The next container that has an entry. 1, 0 or an error. */
static int container_enter(struct fatbin_walk *walk)
{
    while (walk->at == walk->container_end) {
        /* What follows the last container is padding. */
        if (walk->bytes - walk->at < FATBIN_HEADER_BYTES ||
            (walk->at > 0 && read_bytes(walk->data + walk->at, 4) != FATBIN_MAGIC)) {
            return 0;
        }
        uint64_t container = 0;
        int rc = fatbin_container_bytes(&container, walk->data + walk->at, walk->bytes - walk->at);
        if (rc < 0) {
            return rc;
        }
        if (container > walk->bytes - walk->at) {
            return error_set(SONDE_EINPUT,
                             "fat binary: a container of %llu bytes at byte %zu of %zu",
                             (unsigned long long)container, walk->at, walk->bytes);
        }
        walk->container_end = walk->at + (size_t)container;
        walk->at += FATBIN_HEADER_BYTES;
    }
    return 1;
}

static enum fatbin_packing packing_of(uint64_t flags, uint32_t compressed)
{
    if (compressed == 0) {
        return FATBIN_RAW;
    }
    return flags & FLAG_ZSTD ? FATBIN_ZSTD : flags & FLAG_LZ4 ? FATBIN_LZ4 : FATBIN_RAW;
}

static int entry_read(struct fatbin_entry *entry, const uint8_t *at, size_t left, size_t place)
{
    if (left < ENTRY_HEADER_LEAST) {
        return error_set(SONDE_EINPUT, "fat binary: %zu bytes at byte %zu are no entry", left,
                         place);
    }
    uint32_t header = (uint32_t)read_bytes(at + 4, 4),
             compressed = (uint32_t)read_bytes(at + 16, 4);
    uint32_t name = (uint32_t)read_bytes(at + 32, 4), name_bytes = (uint32_t)read_bytes(at + 36, 4);
    uint64_t payload = read_bytes(at + 8, 8), flags = read_bytes(at + 40, 8);
    if (header < ENTRY_HEADER_LEAST || header > left || payload > left - header) {
        return error_set(SONDE_EINPUT,
                         "fat binary: the entry at byte %zu has %u bytes of header and %llu of "
                         "payload, but %zu are left",
                         place, header, (unsigned long long)payload, left);
    }
    if (compressed > payload) {
        return error_set(SONDE_EINPUT,
                         "fat binary: the entry at byte %zu has %u compressed bytes in %llu of "
                         "payload",
                         place, compressed, (unsigned long long)payload);
    }
    *entry = (struct fatbin_entry){
        .kind = (uint32_t)read_bytes(at, 2),
        .sm = (uint32_t)read_bytes(at + 28, 4),
        .specific = (flags & FLAGS_SPECIFIC) != 0,
        .packing = packing_of(flags, compressed),
        .payload = at + header,
        .payload_bytes = compressed ? compressed : payload,
        .bytes = compressed ? read_bytes(at + 56, 8) : payload,
    };
    if (name_bytes > 0 && name <= header && name_bytes <= header - name) {
        entry->name = (const char *)at + name;
        entry->name_bytes = name_bytes;
    }
    return 0;
}

int fatbin_walk_next(struct fatbin_walk *walk, struct fatbin_entry *entry)
{
    int rc = container_enter(walk);
    if (rc <= 0) {
        return rc;
    }
    const uint8_t *at = walk->data + walk->at;
    rc = entry_read(entry, at, walk->container_end - walk->at, walk->at);
    if (rc < 0) {
        return rc;
    }
    walk->at += (size_t)read_bytes(at + 4, 4) + (size_t)read_bytes(at + 8, 8);
    return 1;
}

/* Is `entry` a better choice than `best`? */
static bool better(const struct fatbin_entry *entry, const struct fatbin_entry *best, uint32_t sm)
{
    /* Code for one target alone needs instructions that others do not have. */
    bool fits = entry->sm <= sm && (!entry->specific || entry->sm == sm);
    bool best_fits = best->sm <= sm && (!best->specific || best->sm == sm);
    if (fits != best_fits) {
        return fits;
    }
    if (entry->specific != best->specific) {
        return entry->specific == fits;
    }
    return fits ? entry->sm > best->sm : entry->sm < best->sm;
}

int fatbin_choose(struct fatbin_entry *out, const void *data, size_t bytes, uint32_t sm)
{
    struct fatbin_walk walk;
    struct fatbin_entry entry = {0};
    uint32_t other = 0, other_sm = 0;
    bool found = false;
    int rc = fatbin_walk_start(&walk, data, bytes);
    if (rc < 0) {
        return rc;
    }
    while ((rc = fatbin_walk_next(&walk, &entry)) > 0) {
        if (entry.kind != FATBIN_PTX) {
            other = entry.kind;
            other_sm = entry.sm;
        } else if (!found || better(&entry, out, sm)) {
            *out = entry;
            found = true;
        }
    }
    if (rc < 0 || found || other == 0) {
        return rc < 0 ? rc : found;
    }
    return error_set(SONDE_EUNSUPPORTED,
                     "the fat binary has %s for sm_%u, but no PTX: compile with "
                     "-gencode arch=compute_%u,code=compute_%u",
                     other == FATBIN_MACHINE_CODE ? "machine code" : "intermediate code", other_sm,
                     other_sm, other_sm);
}

static int64_t unpack(char *text, const struct fatbin_entry *entry)
{
    if (entry->packing == FATBIN_LZ4) {
        return fatbin_lz4(text, entry->bytes, entry->payload, entry->payload_bytes);
    }
    if (entry->packing == FATBIN_RAW) {
        memcpy(text, entry->payload, entry->bytes);
        return (int64_t)entry->bytes;
    }
    size_t got = ZSTD_decompress(text, entry->bytes, entry->payload, entry->payload_bytes);
    if (ZSTD_isError(got)) {
        return error_set(SONDE_EINPUT, "the zstd frame is damaged: %s", ZSTD_getErrorName(got));
    }
    return (int64_t)got;
}

int fatbin_text(char **text, size_t *length, const struct fatbin_entry *entry)
{
    *text = NULL;
    if (entry->bytes > FATBIN_TEXT_MAX) {
        return error_set(SONDE_EINPUT, "fat binary: PTX of %llu bytes, at most %u are read",
                         (unsigned long long)entry->bytes, FATBIN_TEXT_MAX);
    }
    if (entry->packing == FATBIN_RAW && entry->bytes > entry->payload_bytes) {
        return error_set(SONDE_EINPUT, "fat binary: an entry is packed in a way not known here");
    }
    char *out = malloc(entry->bytes + 1);
    if (!out) {
        return error_memory();
    }
    int64_t got = unpack(out, entry);
    if (got < 0) {
        free(out);
        return error_prefix((int)got, "fat binary: PTX for sm_%u", entry->sm);
    }
    while (got > 0 && out[got - 1] == '\0') {
        got--;
    }
    out[got] = '\0';
    *text = out;
    *length = (size_t)got;
    return 0;
}
