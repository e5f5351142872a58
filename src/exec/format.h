/* Device printf: one thread's format and packed arguments become text. */
#ifndef SONDE_EXEC_FORMAT_H
#define SONDE_EXEC_FORMAT_H

#include "exec/exec.h"
#include "util/container/strbuf.h"

#define FORMAT_ARGS_MAX 32 /* further specifiers are printed as they are */

enum format_result {
    FORMAT_DONE,
    FORMAT_REFUSED,   /* a width, precision or text beyond the limits of format.c */
    FORMAT_BAD_MEMORY /* something cannot be read: `what` at `address` */
};

struct format_call {
    uint32_t args;       /* out: arguments used */
    size_t record_bytes; /* out: what the call takes of the driver's buffer */
    const char *what;    /* out, FORMAT_BAD_MEMORY */
    uint64_t address;
};

/* Appends to `out`, which may have failed for want of memory: the caller asks it. */
enum format_result format_print(struct strbuf *out, struct format_call *call,
                                const struct exec_warp *warp, uint32_t lane, uint64_t format,
                                uint64_t list);

#endif
