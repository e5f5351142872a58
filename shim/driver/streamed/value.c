/* Words of memory that streams write or wait for. */
#include "shim/driver/driver.h"

enum {
    DO_WAIT_32 = 1,
    DO_WRITE_32 = 2,
    DO_FLUSH = 3,
    DO_WAIT_64 = 4,
    DO_WRITE_64 = 5,
    DO_FENCE = 6
};
enum { WAIT_FLUSH = 1 << 30 };

/* CUstreamBatchMemOpParams */
union batch_op {
    int what;
    struct {
        int what;
        uint64_t address, value;
        unsigned flags;
        uint64_t alias;
    } word;
    uint64_t size[6];
};

static int put(struct rt_stream *in, uint64_t address, uint64_t value, uint32_t bytes,
               enum rt_value_what what)
{
    struct rt_value request = {.what = what, .value = value, .bytes = bytes};
    int code = shim_memory_device_pointer(&request.address, (void *)(uintptr_t)address);
    if (code != SHIM_OK) { /* of a pool, or mapped: what the queue knows */
        request.address = address;
    }
    return shim_code(rt_enqueue_value(in, &request));
}

static int wait_for(struct rt_stream *in, uint64_t address, uint64_t value, unsigned flags,
                    uint32_t bytes)
{
    unsigned how = flags & ~(unsigned)WAIT_FLUSH;
    return how > 3 ? SHIM_INVALID
                   : put(in, address, value, bytes, (enum rt_value_what)(RT_VALUE_WAIT_GEQ + how));
}

static int write_to(struct rt_stream *in, uint64_t address, uint64_t value, unsigned flags,
                    uint32_t bytes)
{
    return flags > 1 ? SHIM_INVALID : put(in, address, value, bytes, RT_VALUE_WRITE);
}

static int batch_op(struct rt_stream *in, const union batch_op *op)
{
    bool wide = op->what == DO_WAIT_64 || op->what == DO_WRITE_64;
    uint64_t value = wide ? op->word.value : (uint32_t)op->word.value;
    switch (op->what) {
    case DO_WAIT_32:
    case DO_WAIT_64:
        return wait_for(in, op->word.address, value, op->word.flags, wide ? 8 : 4);
    case DO_WRITE_32:
    case DO_WRITE_64:
        return write_to(in, op->word.address, value, op->word.flags, wide ? 8 : 4);
    case DO_FLUSH:
    case DO_FENCE:
        return SHIM_OK; /* what happens in a stream is seen by what follows in it */
    default:
        return SHIM_INVALID;
    }
}

EXPORT int STREAMED(cuStreamBatchMemOp_v2)(void *stream, unsigned count, const union batch_op *ops,
                                           unsigned flags)
{
    struct rt_stream *in;
    int code =
        ops && count <= 256 && flags == 0 ? driver_stream(&in, stream, OWN_STREAM) : SHIM_INVALID;
    for (unsigned i = 0; code == SHIM_OK && i < count; i++) {
        code = batch_op(in, &ops[i]);
    }
    return driver_result(code);
}

/* Those without _v2 need a parameter of the driver's module that it does not have as it comes. */
EXPORT int STREAMED(cuStreamBatchMemOp)(void *stream, unsigned count, const union batch_op *ops,
                                        unsigned flags)
{
    (void)stream;
    (void)count;
    (void)ops;
    (void)flags;
    return driver_result(SHIM_NOT_SUPPORTED);
}

static int refuse(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
    (void)stream;
    (void)address;
    (void)value;
    (void)flags;
    return driver_result(SHIM_NOT_SUPPORTED);
}

#define WORDS(bits, type)                                                                          \
    EXPORT int STREAMED(cuStreamWaitValue##bits##_v2)(void *stream, uint64_t address, type value,  \
                                                      unsigned flags)                              \
    {                                                                                              \
        struct rt_stream *in;                                                                      \
        int code = driver_stream(&in, stream, OWN_STREAM);                                         \
        return driver_result(code == SHIM_OK ? wait_for(in, address, value, flags, (bits) / 8)     \
                                             : code);                                              \
    }                                                                                              \
    EXPORT int STREAMED(cuStreamWaitValue##bits)(void *stream, uint64_t address, type value,       \
                                                 unsigned flags)                                   \
    {                                                                                              \
        return refuse(stream, address, value, flags);                                              \
    }                                                                                              \
    EXPORT int STREAMED(cuStreamWriteValue##bits##_v2)(void *stream, uint64_t address, type value, \
                                                       unsigned flags)                             \
    {                                                                                              \
        struct rt_stream *in;                                                                      \
        int code = driver_stream(&in, stream, OWN_STREAM);                                         \
        return driver_result(code == SHIM_OK ? write_to(in, address, value, flags, (bits) / 8)     \
                                             : code);                                              \
    }                                                                                              \
    EXPORT int STREAMED(cuStreamWriteValue##bits)(void *stream, uint64_t address, type value,      \
                                                  unsigned flags)                                  \
    {                                                                                              \
        return refuse(stream, address, value, flags);                                              \
    }
WORDS(32, uint32_t)
WORDS(64, uint64_t)
