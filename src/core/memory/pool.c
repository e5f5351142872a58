/*
 * The pool of accesses, details and requests that are not in use. An SM's demand has a high-water
 * mark, so allocation stops soon after the start of a launch. A large GPU's SMs do not reach theirs
 * in a short one; accesses and requests are made several at a time, details, which are large and
 * few, one by one.
 */
#include <stdlib.h>

#include "core/memory/access.h"

void access_pool_init(struct access_pool *pool)
{
    pool_init(&pool->accesses, sizeof(struct lsu_access));
    pool_init(&pool->requests, sizeof(struct lsu_request));
}

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
    struct lsu_access *access = pool_take(&pool->accesses);
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
    pool_put(&pool->accesses, access);
}

struct lsu_request *request_take(struct access_pool *pool)
{
    return pool_take(&pool->requests);
}

void request_release(struct access_pool *pool, struct lsu_request *request)
{
    pool_put(&pool->requests, request);
}

void access_pool_free(struct access_pool *pool)
{
    while (pool->details) {
        struct access_detail *next = pool->details->next;
        free(pool->details);
        pool->details = next;
    }
    pool_free_all(&pool->accesses);
    pool_free_all(&pool->requests);
}
