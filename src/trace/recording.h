/*
 * The recording's file format (docs/recording.md), shared by its writer and its reader.
 *
 *     file     magic 8 | version 8 | payload bytes 8 | frame bytes 8 | SHA-256 32 | zstd frame
 *     payload  index bytes 8 | index (JSON) | rings and columns in the index's order (codec.h)
 *
 * All numbers are little-endian. The SHA-256 covers the 32 bytes before it and the frame.
 */
#ifndef SONDE_TRACE_RECORDING_H
#define SONDE_TRACE_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

#define RECORDING_MAGIC "SONDEREC"
#define RECORDING_VERSION 1
#define RECORDING_HEADER_BYTES 64
#define RECORDING_HASHED_BYTES 32 /* of the header */

/* What a reader takes at most; a writer refuses to write more. */
#define RECORDING_FILE_MAX ((size_t)256 << 20)
#define RECORDING_PAYLOAD_MAX ((size_t)256 << 20)
#define RECORDING_INDEX_MAX ((size_t)16 << 20)

/* The device's description as rows: member, and whether it is text (T), a number (N), or one that
 * may be missing (O). */
/* clang-format off */
#define RECORDING_DEVICE_FIELDS(T, N, O)                                                           \
    T(name) T(driver) T(kind) N(sms) N(compute_major) N(compute_minor) N(clock_hz)                 \
    N(memory_bytes) N(l2_bytes_reported) N(shared_per_sm_bytes) N(shared_per_block_bytes)          \
    O(memory_bandwidth_reported)
/* clang-format on */

/* The members that describe types and codings in the index. */
extern const char *const recording_type_names[3];   /* indexed by enum trace_type */
extern const char *const recording_coding_names[2]; /* without and with differences */

void recording_put_u64(unsigned char *at, uint64_t value);
uint64_t recording_get_u64(const unsigned char *at);

/* A decompressed payload, for the reader and its fuzz test. */
int recording_parse_payload(struct traceset **out, const char *name, const unsigned char *payload,
                            size_t size);

#endif
