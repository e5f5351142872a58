/*
 * The pool of accesses and requests: two lists of what is not in use. An SM's demand has a
 * high-water mark, so allocation stops soon after the start of a launch.
 */
#include <stdlib.h>

#include "core/memory/access.h"

struct lsu_access *access_take(struct access_pool *pool)
{
    struct lsu_access *access = pool->accesses;
    if (access) {
        pool->accesses = access->next;
        return access;
    }
    return malloc(sizeof *access);
}

void access_release(struct access_pool *pool, struct lsu_access *access)
{
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
    while (pool->requests) {
        struct lsu_request *next = pool->requests->next_free;
        free(pool->requests);
        pool->requests = next;
    }
}
