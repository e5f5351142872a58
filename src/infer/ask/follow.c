/* See follow.h. A window may begin anywhere in the ring, and go around it more than once. */
#include "infer/ask/follow.h"

bool chase_columns(struct chase_columns *out, const struct trace *trace, size_t windows,
                   size_t window)
{
    size_t records, nexts, starts, expected = windows * window;
    *out = (struct chase_columns){.latency = trace_u32(trace, "latency", &records),
                                  .next = trace_u32(trace, "next", &nexts),
                                  .start = trace_u32(trace, "start", &starts),
                                  .windows = windows,
                                  .window = window};
    return out->latency && out->next && out->start && records == expected && nexts == expected &&
           starts == windows;
}

bool chase_follows(const struct chase_columns *columns, size_t w, const struct walk_shape *ring,
                   size_t first)
{
    const uint32_t *next = columns->next + w * columns->window;
    size_t element = first;
    for (size_t i = 0; i < columns->window; i++) {
        element = element + 1 == ring->count ? 0 : element + 1;
        if (next[i] != walk_offset(ring, element)) {
            return false;
        }
    }
    return true;
}
