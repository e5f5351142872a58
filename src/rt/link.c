/*
 * The linker as a driver's user sees it: texts come in one after the other, a module comes out.
 * What linking means is the business of ptx/link.c; which functions need no definition because the
 * driver has them, that of exec. Left out: inputs other than PTX, and options of the vendor's
 * compiler, which there is none of here.
 */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

struct rt_link {
    struct rt *rt;
    VEC(struct ptx_module *) parts;
    bool done;
};

int rt_link_create(struct rt *rt, struct rt_link **out)
{
    *out = calloc(1, sizeof(**out));
    if (!*out) {
        return error_memory();
    }
    (*out)->rt = rt;
    return 0;
}

/*
 * The vendor's library of the device's runtime (libcudadevrt) is PTX over functions of its driver
 * that no document describes. exec/system.def stands in its place.
 */
static bool is_device_runtime(const char *ptx, size_t length)
{
    static const char mark[] = "cnpGetParameterBufferV2";
    return memmem(ptx, length, mark, sizeof mark - 1) != NULL;
}

int rt_link_add(struct rt_link *link, const char *file, const char *ptx, size_t length)
{
    struct ptx_module *part;
    if (link->done) {
        return error_set(SONDE_EUSAGE, "%s: linking has been completed", file);
    }
    if (is_device_runtime(ptx, length)) {
        return 0;
    }
    int rc = ptx_parse_late(&part, file, ptx, length);
    if (rc == 0 && vec_push(&link->parts, part) < 0) {
        ptx_module_destroy(part);
        rc = error_memory();
    }
    link->done = rc < 0;
    return rc;
}

int rt_link_complete(struct rt_link *link, struct rt_module **out)
{
    struct ptx_module *whole;
    *out = NULL;
    if (link->done || link->parts.count == 0) {
        return error_set(SONDE_EUSAGE, link->done ? "linking has been completed or has failed"
                                                  : "nothing to link");
    }
    int rc = context_check(link->rt);
    if (rc < 0) {
        return rc;
    }
    link->done = true;
    uint32_t count = (uint32_t)link->parts.count;
    vec_clear(&link->parts); /* they are the whole's now */
    rc = ptx_link(&whole, link->parts.data, count, exec_is_system_call);
    return rc < 0 ? rc : module_create(link->rt, out, whole);
}

void rt_link_destroy(struct rt_link *link)
{
    if (!link) {
        return;
    }
    for (size_t i = 0; i < link->parts.count; i++) {
        ptx_module_destroy(link->parts.data[i]);
    }
    vec_free(&link->parts);
    free(link);
}
