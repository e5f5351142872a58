/* A texture of 32-bit unsigned texels over linear memory, for test benches without a driver. */
#ifndef SONDE_TESTS_BUFFER_TEXTURE_H
#define SONDE_TESTS_BUFFER_TEXTURE_H

#include "exec/texture/texture.h"

struct buffer_texture {
    struct exec_image image;
    struct exec_texture texture; /* no image until it is made */
};

static inline void buffer_texture_make(struct buffer_texture *t, uint64_t address, uint64_t bytes)
{
    t->image = (struct exec_image){.spec = {.shape = IMAGE_BUFFER,
                                            .format = {TEXEL_UNSIGNED, 32, 1},
                                            .width = (uint32_t)(bytes / 4),
                                            .height = 1,
                                            .depth = 1,
                                            .levels = 1,
                                            .address = address}};
    image_lay_out(&t->image, address);
    t->texture = (struct exec_texture){&t->image, {.as_integer = true}};
}

/* The same over rows that lie `pitch_bytes` apart. */
static inline void buffer_texture_make_pitched(struct buffer_texture *t, uint64_t address,
                                               uint32_t pitch_bytes, uint32_t rows)
{
    t->image = (struct exec_image){.spec = {.shape = IMAGE_PITCH,
                                            .format = {TEXEL_UNSIGNED, 32, 1},
                                            .width = pitch_bytes / 4,
                                            .height = rows,
                                            .depth = 1,
                                            .levels = 1,
                                            .pitch_bytes = pitch_bytes,
                                            .address = address}};
    image_lay_out(&t->image, address);
    t->texture = (struct exec_texture){&t->image, {.as_integer = true}};
}

#endif
