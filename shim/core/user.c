/*
 * User objects: what a program wants destroyed when neither it nor a graph refers to it any more.
 * Graphs, their clones and what is instantiated of them hold references; which of them is only an
 * address here. The last to let go calls the program's function, which may call nothing of CUDA.
 */
#include <pthread.h>
#include <stdlib.h>

#include "shim/core/shim.h"
#include "util/container/vec.h"

struct user_object {
    void *object;
    void (*destroy)(void *object);
    uint64_t references;
};

struct hold {
    const void *owner;
    struct user_object *user;
    unsigned count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static VEC(struct hold) holds;

int shim_user_create(void **out, void *object, void (*destroy)(void *object), unsigned count)
{
    struct user_object *user = out && destroy && count ? calloc(1, sizeof *user) : NULL;
    if (!user) {
        return out && destroy && count ? SHIM_NO_MEMORY : SHIM_INVALID;
    }
    *user = (struct user_object){object, destroy, count};
    shim_handle_add(user, SHIM_USER_OBJECT);
    *out = user;
    return SHIM_OK;
}

/* With the mutex; true: nobody refers to it, the caller ends it. */
static bool let_go(struct user_object *user, uint64_t count)
{
    user->references -= count < user->references ? count : user->references;
    return user->references == 0;
}

static void end(struct user_object *user)
{
    shim_handle_remove(user);
    user->destroy(user->object);
    free(user);
}

int shim_user_retain(void *handle, unsigned count)
{
    struct user_object *user = handle;
    if (!shim_handle_is(handle, SHIM_USER_OBJECT) || count == 0) {
        return SHIM_INVALID;
    }
    pthread_mutex_lock(&mutex);
    user->references += count;
    pthread_mutex_unlock(&mutex);
    return SHIM_OK;
}

int shim_user_release(void *handle, unsigned count)
{
    struct user_object *user = handle;
    if (!shim_handle_is(handle, SHIM_USER_OBJECT) || count == 0) {
        return SHIM_INVALID;
    }
    pthread_mutex_lock(&mutex);
    bool over = let_go(user, count);
    pthread_mutex_unlock(&mutex);
    if (over) {
        end(user);
    }
    return SHIM_OK;
}

int shim_user_hold(const void *owner, void *handle, unsigned count, bool move)
{
    struct user_object *user = handle;
    if (!shim_handle_is(handle, SHIM_USER_OBJECT) || count == 0) {
        return SHIM_INVALID;
    }
    pthread_mutex_lock(&mutex);
    int rc = vec_push(&holds, ((struct hold){owner, user, count}));
    user->references += rc == 0 && !move ? count : 0;
    pthread_mutex_unlock(&mutex);
    return rc < 0 ? SHIM_NO_MEMORY : SHIM_OK;
}

int shim_user_inherit(const void *owner, const void *from)
{
    int rc = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0, count = holds.count; rc == 0 && i < count; i++) {
        struct hold hold = holds.data[i];
        if (hold.owner == from) {
            hold.owner = owner;
            rc = vec_push(&holds, hold);
            hold.user->references += rc == 0 ? hold.count : 0;
        }
    }
    pthread_mutex_unlock(&mutex);
    return rc < 0 ? SHIM_NO_MEMORY : SHIM_OK;
}

bool shim_user_holds(const void *owner)
{
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < holds.count; i++) {
        found = found || holds.data[i].owner == owner;
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

/* One at a time: what is called may change the list. */
static struct user_object *drop_one(const void *owner, const void *handle, unsigned *left)
{
    struct user_object *over = NULL;
    for (size_t i = holds.count; *left > 0 && !over && i-- > 0;) {
        struct hold *hold = &holds.data[i];
        if (hold->owner != owner || (handle && hold->user != handle)) {
            continue;
        }
        unsigned count = hold->count < *left ? hold->count : *left;
        struct user_object *user = hold->user;
        *left -= count;
        hold->count -= count;
        if (hold->count == 0) {
            *hold = vec_last(&holds);
            holds.count--;
        }
        over = let_go(user, count) ? user : NULL;
    }
    return over;
}

void shim_user_drop(const void *owner, const void *handle, unsigned count)
{
    struct user_object *over;
    do {
        pthread_mutex_lock(&mutex);
        over = drop_one(owner, handle, &count);
        pthread_mutex_unlock(&mutex);
        if (over) {
            end(over);
        }
    } while (over && count > 0);
}
