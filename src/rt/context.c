/*
 * Errors that stick. After a kernel's fault, or an interruption, the context is spoilt: what starts
 * or waits for work tells the first error again. (CUDA driver API, "sticky" errors.)
 */
#include <stdlib.h>
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

int context_check(struct rt *rt)
{
    if (rt->fault_code == 0) {
        return 0;
    }
    error_set_lines(rt->fault_code, rt->fault ? rt->fault : error_name(rt->fault_code));
    if (!rt->fault_told) {
        rt->fault_told = true;
        return rt->fault_code;
    }
    return error_prefix(rt->fault_code, "after an earlier fault");
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
    rt->fault_told = false;
}
