/*
 * The knobs of fake_cuda.c, which a test finds by dlsym(): what the next calls answer, and what the
 * last ones were given.
 */
#ifndef SONDE_TESTS_SUPPORT_FAKE_CUDA_H
#define SONDE_TESTS_SUPPORT_FAKE_CUDA_H

#include <stdint.h>

struct fake_cuda {
    int init_result, count, launch_result; /* to answer */
    int compute_major;
    int no_context; /* the primary context cannot be had */
    /* what was given */
    int retained, released, loaded, unloaded, allocated, freed, set_current;
    int carveout_percent, dynamic_limit;
    unsigned grid[3], block[3], shared_bytes;
    int bank_config, textures;
    uint64_t texture_address, texture_bytes;
    struct {
        uint64_t width, height, depth; /* the driver's words for an array */
        int format;
        unsigned channels, flags, levels;
        int alive;
        uint64_t copied_bytes[3]; /* of a row, rows, slices */
    } array;
    int surfaces;
    int page_limit; /* to answer: how many pages there are; 0: enough */
    int pages_created, pages_released, pages_mapped, ranges;
    int neighbours; /* pages mapped right behind the one mapped before them */
    uint64_t accessible_bytes;
};

#endif
