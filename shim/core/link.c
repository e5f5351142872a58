/*
 * Linkers. The texts are held against each other when linking completes, and linked once more where
 * the result is loaded: an image is a line of text that stands for them.
 */
#define _GNU_SOURCE /* memmem() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/core/shim.h"
#include "util/container/vec.h"
#include "util/error.h"

#define IMAGE_BEGIN "// linked by sonde: "

struct shim_link {
    VEC(struct shim_text) texts;
    struct rt_link *link;
    struct shim_log log;
};

struct linked {
    char image[48];
    struct shim_text *texts;
    size_t count;
};
static VEC(struct linked *) images; /* programs may keep one as long as they like */

size_t link_texts(const struct shim_text **texts, const char *image)
{
    for (size_t i = 0; i < images.count; i++) {
        const struct linked *linked = images.data[i];
        if (strncmp(image, IMAGE_BEGIN, strlen(IMAGE_BEGIN)) == 0 &&
            strcmp(image, linked->image) == 0) {
            *texts = linked->texts;
            return linked->count;
        }
    }
    return 0;
}

int shim_link_create(struct shim_link **out)
{
    struct rt *rt;
    struct shim_link *link = calloc(1, sizeof *link);
    int code = link ? shim_enter(&rt) : SHIM_NO_MEMORY;
    if (code == SHIM_OK) {
        code = shim_code(rt_link_create(rt, &link->link));
        shim_leave(rt);
    }
    code = code == SHIM_OK ? shim_handle_add(link, SHIM_LINK) : code;
    if (code != SHIM_OK) {
        free(link);
        return code;
    }
    *out = link;
    return SHIM_OK;
}

struct shim_log *shim_link_log(struct shim_link *link)
{
    return &link->log;
}

int shim_link_add(struct shim_link *link, const char *name, const void *image, size_t bytes)
{
    struct shim_text text;
    struct rt *rt;
    if (!shim_handle_is(link, SHIM_LINK) || !image) {
        return image ? SHIM_BAD_HANDLE : SHIM_INVALID;
    }
    int code = shim_image_text(&text.text, &text.length, image, bytes);
    if (code != SHIM_OK) {
        return code;
    }
    if (vec_push(&link->texts, text) < 0) {
        free(text.text);
        return SHIM_NO_MEMORY;
    }
    code = shim_enter(&rt);
    if (code == SHIM_OK) {
        int rc = rt_link_add(link->link, name ? name : "input of a linker", text.text, text.length);
        bool is_ptx = memmem(text.text, text.length, ".version", strlen(".version")) != NULL;
        code = shim_code(rc) == SHIM_OK ? SHIM_OK : is_ptx ? SHIM_BAD_PTX : SHIM_BAD_IMAGE;
        shim_leave(rt);
    }
    return code;
}

static int remember(struct shim_link *link, void **image, size_t *bytes)
{
    if (vec_reserve(&images, images.count + 1) < 0) {
        return SHIM_NO_MEMORY;
    }
    struct linked *linked = images.data[images.count] = calloc(1, sizeof *linked);
    if (!linked) {
        return SHIM_NO_MEMORY;
    }
    images.count++;
    snprintf(linked->image, sizeof linked->image, IMAGE_BEGIN "%zu\n", images.count);
    linked->texts = link->texts.data;
    linked->count = link->texts.count;
    link->texts.data = NULL;
    link->texts.count = link->texts.capacity = 0;
    *image = linked->image;
    if (bytes) {
        *bytes = strlen(linked->image) + 1;
    }
    return SHIM_OK;
}

int shim_link_complete(struct shim_link *link, void **image, size_t *bytes)
{
    struct rt_module *module;
    struct rt *rt;
    if (!shim_handle_is(link, SHIM_LINK)) {
        return SHIM_BAD_HANDLE;
    }
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    if (shim_code(rt_link_complete(link->link, &module)) != SHIM_OK) {
        code = SHIM_UNKNOWN; /* as a linker fails on an H200, with driver 580 */
    } else {
        rt_module_unload(rt, module);
        code = remember(link, image, bytes);
    }
    shim_leave(rt);
    return code;
}

int shim_link_destroy(struct shim_link *link)
{
    if (!shim_handle_is(link, SHIM_LINK)) {
        return SHIM_BAD_HANDLE;
    }
    shim_handle_remove(link);
    rt_link_destroy(link->link);
    for (size_t i = 0; i < link->texts.count; i++) {
        free(link->texts.data[i].text);
    }
    vec_free(&link->texts);
    free(link);
    return SHIM_OK;
}
