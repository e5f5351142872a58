/* The memory checker's place in the runtime: who is told of what. */
#include "check/check.h"
#include "rt/state.h"
#include "util/error.h"

/* Between two allocations, so that what leaves one does not end in the next. */
#define RED_ZONE_BYTES 4096

int rt_check_enable(struct rt *rt)
{
    const struct sm_spec *sm = &rt->model->sm;
    if (rt->check) {
        return 0;
    }
    int rc =
        check_create(&rt->check, exec_memory_base(rt->memory), exec_memory_range_bytes(rt->memory),
                     sm->divergence != DIVERGENCE_INDEPENDENT);
    rt->vmem.red_zone_bytes = rc < 0 ? 0 : RED_ZONE_BYTES;
    return rc;
}

struct check *rt_check(const struct rt *rt)
{
    return rt->check;
}

struct check *rt_check_detach(struct rt *rt)
{
    struct check *check = rt->check;
    rt->check = NULL;
    return check;
}

void checking_allocated(struct rt *rt, uint64_t address, uint64_t bytes, bool program)
{
    if (rt->check) {
        check_allocated(rt->check, address, bytes, program ? CHECK_PROGRAM : CHECK_DRIVER);
    }
}

void checking_freed(struct rt *rt, uint64_t address, int rc)
{
    if (rt->check && rc == 0) {
        check_freed(rt->check, address);
    } else if (rt->check) {
        check_free_refused(rt->check, address, false);
    }
}

void checking_freed_twice(struct rt *rt, uint64_t address)
{
    if (rt->check) {
        check_free_refused(rt->check, address, true);
    }
}

void checking_pooled(struct rt *rt, uint64_t address, uint64_t bytes)
{
    if (rt->check) {
        check_allocated(rt->check, address, bytes, CHECK_POOL);
    }
}

void checking_refused(struct rt *rt, const char *what, uint64_t address, uint64_t bytes)
{
    if (rt->check) {
        check_copy_refused(rt->check, what, address, bytes);
    }
}

void checking_site(struct rt *rt, const char *site)
{
    if (rt->check) {
        check_site(rt->check, site);
    }
}

char *checking_site_aside(struct rt *rt)
{
    return rt->check ? check_site_aside(rt->check) : NULL;
}

void checking_site_back(struct rt *rt, char *site)
{
    if (rt->check) {
        check_site_back(rt->check, site);
    }
}

void checking_written(struct rt *rt, uint64_t address, uint64_t bytes)
{
    if (rt->check) {
        check_written(rt->check, address, bytes);
    }
}

void checking_ended(struct rt *rt, const struct rt_kernel *kernel, int rc)
{
    if (rt->check && rc == SONDE_EFAULT) {
        check_faulted(rt->check, kernel->func->name, error_text());
    }
}
