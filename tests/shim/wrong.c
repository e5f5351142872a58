/*
 * Doubles 32 words, and with a second argument does one thing wrong: check.sh. What it does is
 * refused as by a driver, or goes on.
 */
#include <pthread.h>

#include "hosts/host.h"

int cuCtxGetCurrent(handle *out);

#define WORDS 32
#define THREADS 4
#define COPIES 2000 /* of each thread */

static void free_it(address words)
{
    OK(cuMemFree_v2(words));
}

static void free_twice(address words)
{
    OK(cuMemFree_v2(words));
    GIVES(1, cuMemFree_v2(words));
}

static void free_its_middle(address words)
{
    GIVES(1, cuMemFree_v2(words + 16));
    OK(cuMemFree_v2(words));
}

static void free_nothing(address words)
{
    (void)words;
}

static void copy_too_much(address words)
{
    uint32_t host[2 * WORDS] = {0};
    GIVES(1, cuMemcpyHtoD_v2(words, host, sizeof host));
    GIVES(1, cuMemcpyDtoH_v2(host, words, sizeof host));
    GIVES(1, cuMemsetD32_v2(words, 0, 2 * WORDS));
    OK(cuMemFree_v2(words));
}

static void copy_what_was_freed(address words)
{
    uint32_t host[WORDS] = {0};
    OK(cuMemFree_v2(words));
    GIVES(1, cuMemcpyHtoD_v2(words, host, sizeof host));
}

static handle context;

static void *copy_often(void *words)
{
    uint32_t value = 1;
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < COPIES; i++) {
        OK(cuMemcpyHtoD_v2(*(address *)words, &value, sizeof value));
        OK(cuMemsetD32_v2(*(address *)words + 4, value, 1));
    }
    return NULL;
}

/* Nothing is wrong with that. */
static void copy_from_threads(address words)
{
    pthread_t threads[THREADS];
    OK(cuCtxGetCurrent(&context));
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, copy_often, &words) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
    }
    OK(cuMemFree_v2(words));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*end)(address words);
    } ends[] = {{"twice", free_twice},
                {"middle", free_its_middle},
                {"leak", free_nothing},
                {"copy", copy_too_much},
                {"late", copy_what_was_freed},
                {"threads", copy_from_threads},
                {"", free_it}};
    handle kernel = function(begin(argv, "double.ptx"), "double_words");
    const char *what = argc > 2 ? argv[2] : "";
    unsigned count = strcmp(what, "more") == 0 ? 2 * WORDS : WORDS;
    address words = take(WORDS);
    void *args[] = {&words, &count};
    size_t i = 0;
    OK(launch(kernel, 1, 64, NULL, args));
    if (strcmp(what, "running") == 0) {
        OK(cuMemFree_v2(words)); /* it waits for the kernel */
        return 0;
    }
    OK(cuCtxSynchronize());
    EXPECT(word(words, WORDS - 1) == 2);
    if (strcmp(what, "freed") == 0) {
        OK(cuMemFree_v2(words));
        OK(launch(kernel, 1, 64, NULL, args));
        OK(cuCtxSynchronize());
        return 0;
    }
    while (strcmp(ends[i].name, what) != 0 && ends[i].name[0]) {
        i++;
    }
    ends[i].end(words);
    return 0;
}
