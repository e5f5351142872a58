/*
 * The pool of accesses, details and requests: three lists of what is not in use. An SM's demand has
 * a high-water mark, so allocation stops soon after the start of a launch.
 */
#include <stdlib.h>

#include "core/memory/access.h"

static struct access_detail *detail_take(struct access_pool *pool)
{
    struct access_detail *detail = pool->details;
    if (detail) {
        pool->details = detail->next;
        return detail;
    }
    return malloc(sizeof *detail);
}

struct lsu_access *access_take(struct access_pool *pool)
{
    struct lsu_access *access = pool->accesses;
    if (access) {
        pool->accesses = access->next;
    } else {
        access = malloc(sizeof *access);
    }
    if (!access) {
        return NULL;
    }
    access->detail = detail_take(pool);
    if (!access->detail) {
        access_release(pool, access);
        return NULL;
    }
    return access;
}

static void detail_release(struct access_pool *pool, struct lsu_access *access)
{
    if (access->detail) {
        access->detail->next = pool->details;
        pool->details = access->detail;
        access->detail = NULL;
    }
}

void access_sent(struct access_pool *pool, struct lsu_access *access)
{
    if (!is_atomic(access)) {
        detail_release(pool, access);
    }
}

void access_release(struct access_pool *pool, struct lsu_access *access)
{
    detail_release(pool, access);
    access->next = pool->accesses;
    pool->accesses = access;
}

struct lsu_request *request_take(struct access_pool *pool)
{
    struct lsu_request *request = pool->requests;
    if (request) {
        pool->requests = request->next_free;
        return request;
    }
    return malloc(sizeof *request);
}

void request_release(struct access_pool *pool, struct lsu_request *request)
{
    request->next_free = pool->requests;
    pool->requests = request;
}

void access_pool_free(struct access_pool *pool)
{
    while (pool->accesses) {
        struct lsu_access *next = pool->accesses->next;
        free(pool->accesses);
        pool->accesses = next;
    }
    while (pool->details) {
        struct access_detail *next = pool->details->next;
        free(pool->details);
        pool->details = next;
    }
    while (pool->requests) {
        struct lsu_request *next = pool->requests->next_free;
        free(pool->requests);
        pool->requests = next;
    }
}
