/*
 * What programs say of managed memory: where it had best be, who reads it, where it was last asked
 * to go. Memory here is on both sides at once, so that nothing follows from it; but a program that
 * asks gets back what it has said. Bytes that nobody has said anything of are in no entry.
 */
#include <string.h>

#include "shim/core/shim.h"
#include "util/container/vec.h"

#define NOWHERE (-2)
#define HOST (-1)

struct hint {
    uint64_t begin, end;
    bool read_mostly, by_host, by_device;
    int preferred, prefetched; /* a device, HOST, NOWHERE */
};
static VEC(struct hint) hints; /* of bytes that are in no other entry */

static const struct hint nothing = {.preferred = NOWHERE, .prefetched = NOWHERE};

void hints_forget_all(void)
{
    vec_clear(&hints);
}

/* No entry lies on both sides of the address afterwards. */
static int cut(uint64_t at)
{
    for (size_t i = 0; i < hints.count; i++) {
        struct hint behind = hints.data[i];
        if (behind.begin < at && at < behind.end) {
            hints.data[i].end = behind.begin = at;
            return vec_push(&hints, behind) < 0 ? SHIM_NO_MEMORY : SHIM_OK;
        }
    }
    return SHIM_OK;
}

void hints_forget(uint64_t begin, uint64_t bytes)
{
    if (cut(begin) != SHIM_OK || cut(begin + bytes) != SHIM_OK) {
        return;
    }
    for (size_t i = 0; i < hints.count;) {
        if (hints.data[i].begin >= begin && hints.data[i].end <= begin + bytes) {
            hints.data[i] = hints.data[--hints.count];
        } else {
            i++;
        }
    }
}

/* Entries for all bytes of the range; `begin` and `end` lie between entries already. */
static int fill(uint64_t begin, uint64_t end)
{
    while (begin < end) {
        uint64_t next = end, covered = begin;
        for (size_t i = 0; i < hints.count; i++) {
            if (hints.data[i].begin == begin) {
                covered = hints.data[i].end;
            } else if (hints.data[i].begin > begin && hints.data[i].begin < next) {
                next = hints.data[i].begin;
            }
        }
        if (covered == begin) {
            struct hint fresh = nothing;
            fresh.begin = begin;
            fresh.end = covered = next;
            if (vec_push(&hints, fresh) < 0) {
                return SHIM_NO_MEMORY;
            }
        }
        begin = covered;
    }
    return SHIM_OK;
}

static void set(struct hint *hint, enum shim_hint what, int place)
{
    switch (what) {
    case SHIM_HINT_READ_MOSTLY:
    case SHIM_HINT_NOT_READ_MOSTLY:
        hint->read_mostly = what == SHIM_HINT_READ_MOSTLY;
        break;
    case SHIM_HINT_PREFERRED:
        hint->preferred = place;
        break;
    case SHIM_HINT_NOT_PREFERRED:
        hint->preferred = NOWHERE;
        break;
    case SHIM_HINT_ACCESSED:
    case SHIM_HINT_NOT_ACCESSED:
        *(place == HOST ? &hint->by_host : &hint->by_device) = what == SHIM_HINT_ACCESSED;
        break;
    default:
        hint->prefetched = place;
    }
}

static bool is_managed(uint64_t address, uint64_t bytes)
{
    struct shim_range range;
    return bytes > 0 && shim_memory_find(&range, address) && range.kind == SHIM_MEMORY_MANAGED &&
           bytes <= range.bytes - (address - range.address);
}

int shim_hint_place(int *place, int type, int id)
{
    bool host = type >= 2 && type <= 4; /* of whatever NUMA node */
    *place = host ? HOST : id;
    return host || (type == 1 && id == 0) ? SHIM_OK : type == 1 ? SHIM_BAD_DEVICE : SHIM_INVALID;
}

int shim_hint(uint64_t address, uint64_t bytes, enum shim_hint what, int place)
{
    struct rt *rt;
    bool places = what != SHIM_HINT_READ_MOSTLY && what != SHIM_HINT_NOT_READ_MOSTLY &&
                  what != SHIM_HINT_NOT_PREFERRED;
    if (what < SHIM_HINT_READ_MOSTLY || what > SHIM_HINT_PREFETCHED ||
        !is_managed(address, bytes)) {
        return SHIM_INVALID;
    }
    if (places && place != HOST && place != 0) {
        return SHIM_BAD_DEVICE;
    }
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    code = cut(address);
    code = code == SHIM_OK ? cut(address + bytes) : code;
    code = code == SHIM_OK ? fill(address, address + bytes) : code;
    for (size_t i = 0; code == SHIM_OK && i < hints.count; i++) {
        if (hints.data[i].begin >= address && hints.data[i].end <= address + bytes) {
            set(&hints.data[i], what, place);
        }
    }
    shim_leave(rt);
    return code;
}

/* What holds for all bytes of the range. */
static struct hint common(uint64_t begin, uint64_t bytes)
{
    struct hint out = nothing;
    uint64_t covered = 0;
    bool first = true;
    for (size_t i = 0; i < hints.count; i++) {
        const struct hint *hint = &hints.data[i];
        uint64_t low = hint->begin > begin ? hint->begin : begin;
        uint64_t high = hint->end < begin + bytes ? hint->end : begin + bytes;
        if (low >= high) {
            continue;
        }
        covered += high - low;
        if (first) {
            out = *hint;
        }
        first = false;
        out.read_mostly &= hint->read_mostly;
        out.by_host &= hint->by_host;
        out.by_device &= hint->by_device;
        out.preferred = out.preferred == hint->preferred ? out.preferred : NOWHERE;
        out.prefetched = out.prefetched == hint->prefetched ? out.prefetched : NOWHERE;
    }
    return covered == bytes ? out : nothing;
}

/* The devices, the host behind them as an H200's driver has it, and places that hold none. */
static void list_accessors(int *out, size_t room, const struct hint *hint)
{
    size_t count = 0;
    if (hint->by_device) {
        out[count++] = 0;
    }
    if (hint->by_host && count < room) {
        out[count++] = HOST;
    }
    while (count < room) {
        out[count++] = NOWHERE;
    }
}

static int type_of(int place)
{
    return place == NOWHERE ? 0 : place == HOST ? 2 : 1;
}

static int write_attribute(void *data, size_t bytes, int attribute, const struct hint *hint)
{
    int value = 0;
    switch (attribute) {
    case 1:
        value = hint->read_mostly;
        break;
    case 2:
    case 6:
        value = hint->preferred;
        break;
    case 3:
        if (bytes == 0 || bytes % sizeof(int) != 0) {
            return SHIM_INVALID;
        }
        list_accessors(data, bytes / sizeof(int), hint);
        return SHIM_OK;
    case 4:
    case 8:
        value = hint->prefetched;
        break;
    case 5:
        value = type_of(hint->preferred);
        break;
    case 7:
        value = type_of(hint->prefetched);
        break;
    default:
        return SHIM_INVALID;
    }
    if (bytes != sizeof value) {
        return SHIM_INVALID;
    }
    memcpy(data, &value, sizeof value);
    return SHIM_OK;
}

int shim_hints_of(void **data, const size_t *sizes, const int *attributes, size_t count,
                  uint64_t address, uint64_t bytes)
{
    struct rt *rt;
    if (!data || !sizes || !attributes || count == 0 || !is_managed(address, bytes)) {
        return SHIM_INVALID;
    }
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    struct hint hint = common(address, bytes);
    for (size_t i = 0; code == SHIM_OK && i < count; i++) {
        code = data[i] ? write_attribute(data[i], sizes[i], attributes[i], &hint) : SHIM_INVALID;
    }
    shim_leave(rt);
    return code;
}
