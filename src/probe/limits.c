/* How much a probe may ask of a device: records of a window, bytes that are walked or mapped. */
#include "probe/live.h"

uint32_t probe_window_limit(uint64_t shared_per_block_bytes)
{
    enum { MOST = 65536 };
    uint64_t records = shared_per_block_bytes / RECORD_BYTES;
    return records < 16 ? 16 : records > MOST ? MOST : (uint32_t)records;
}

uint64_t probe_footprint_limit(uint64_t memory_bytes)
{
    uint64_t quarter = memory_bytes / 4, least = UINT64_C(1) << 20, most = UINT64_C(2) << 30;
    return quarter < least ? least : quarter > most ? most : quarter & ~UINT64_C(4095);
}

uint64_t probe_mapped_limit(uint64_t memory_bytes)
{
    /* What other buffers and the driver need: a sixteenth, half a GiB at least. */
    uint64_t rest = memory_bytes / 16, least = UINT64_C(512) << 20;
    rest = rest < least ? least : rest;
    return memory_bytes - (rest < memory_bytes / 2 ? rest : memory_bytes / 2);
}

uint32_t probe_live_max_window(const struct probe_live *live)
{
    return probe_window_limit(live->device->info.shared_per_block_bytes);
}

uint64_t probe_live_max_footprint(const struct probe_live *live)
{
    return probe_footprint_limit(live->device->info.memory_bytes);
}
