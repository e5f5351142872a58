/*
 * Fat binaries: what nvcc puts into a program for its driver. A container holds entries, each the
 * program's device code in one form: PTX, machine code of one GPU, or the compiler's intermediate
 * form. Only PTX is of use here. Nothing is read outside the bytes that the caller names; what does
 * not fit together is SONDE_EINPUT with the place. Source: the layout observed in what nvcc 11.8
 * and 13.0 write. Numbers are little-endian:
 *
 *     container   0 u32 magic | 4 u16 version 1 | 6 u16 header bytes, 16 | 8 u64 bytes of entries
 *
 *     entry       0 u16 kind | 4 u32 header bytes | 8 u64 payload bytes, padded
 *                 16 u32 compressed bytes, 0: as they are | 28 u32 SM
 *                 32 u32 offset of the name | 36 u32 its bytes
 *                 40 u64 flags | 56 u64 uncompressed bytes
 *
 *     wrapper     0 u32 magic | 4 u32 version | 8 pointer to a container
 *                 16 version 2: pointer to containers, ended by NULL
 */
#ifndef SONDE_FATBIN_FATBIN_H
#define SONDE_FATBIN_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_MAGIC 0xba55ed50u
#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define FATBIN_HEADER_BYTES 16u
#define FATBIN_TEXT_MAX (256u << 20) /* uncompressed; more is refused */

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_MACHINE_CODE = 2, FATBIN_INTERMEDIATE = 8 };
enum fatbin_packing { FATBIN_RAW, FATBIN_LZ4, FATBIN_ZSTD };

/* One entry; the pointers lead into the container's bytes. */
struct fatbin_entry {
    uint32_t kind; /* enum fatbin_kind, or one that is not known here */
    uint32_t sm;   /* 75 */
    bool specific; /* made for this target ("a") or its family ("f") only */
    enum fatbin_packing packing;
    const uint8_t *payload;
    uint64_t payload_bytes; /* as they lie there, without padding where that is known */
    uint64_t bytes;         /* uncompressed, 0: not said */
    const char *name;       /* of the source, not terminated; NULL: none */
    uint32_t name_bytes;
};

/* The bytes of a container, from its header; at least FATBIN_HEADER_BYTES must be readable. */
int fatbin_container_bytes(uint64_t *bytes, const void *data, size_t readable);

/* Walks over the entries of containers that lie back to back in `bytes` bytes. */
struct fatbin_walk {
    const uint8_t *data;
    size_t bytes, at, container_end;
};
int fatbin_walk_start(struct fatbin_walk *walk, const void *data, size_t bytes);
/* 1: *entry is the next; 0: there is none left; negative: an error. */
int fatbin_walk_next(struct fatbin_walk *walk, struct fatbin_entry *entry);

/*
 * The PTX that suits a GPU of compute capability `sm` best: the highest that is not above it, else
 * (no PTX is meant for so old a GPU) the lowest there is. 1: found; 0: empty of entries.
 * SONDE_EUNSUPPORTED names what there is instead of PTX.
 */
int fatbin_choose(struct fatbin_entry *out, const void *data, size_t bytes, uint32_t sm);

/* The text of a PTX entry, with a zero behind it; free() it. */
int fatbin_text(char **text, size_t *length, const struct fatbin_entry *entry);

/* lz4.c: one block without a frame. The bytes written, or SONDE_EINPUT. */
int64_t fatbin_lz4(void *out, size_t out_bytes, const void *in, size_t in_bytes);

#endif
