/*
 * Errors that stick. After a kernel's fault, or an interruption, the context is spoilt: what starts
 * or waits for work tells the first error again. (CUDA driver API, "sticky" errors.)
 */
#include <stdlib.h>
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

int context_check(const struct rt *rt)
{
    return rt->fault_code < 0 ? error_set(rt->fault_code, "after an earlier fault: %s",
                                          rt->fault ? rt->fault : error_name(rt->fault_code))
                              : 0;
}

void context_spoil(struct rt *rt, int code)
{
    if (rt->fault_code == 0) {
        rt->fault = strdup(error_text());
        rt->fault_code = code;
    }
}

void rt_recover(struct rt *rt)
{
    free(rt->fault);
    rt->fault = NULL;
    rt->fault_code = 0;
}
