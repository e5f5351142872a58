/*
 * Where requests meet the TLBs. The common case, a page that the first TLB holds and nothing in
 * the way, is answered inside send(), without an event and without a request to the TLB.
 */
#include <stdlib.h>

#include "mem/pool.h"
#include "mem/queue.h"
#include "mem/tlb/tlb.h"
#include "util/error.h"

struct mem_translator {
    struct engine *engine;
    struct mem_cache *tlb;
    struct mem_port below, downstream;
    uint32_t entries, waiting; /* requests whose pages are not known yet */
    bool tlb_refused;          /* and will call on_tlb_space() */
    struct request_list out;   /* translated and refused downstream */
    struct waiters space;
    struct pool translations;
};

struct translation {
    struct mem_request ask;
    struct mem_translator *translator;
    struct mem_request *held;
};

void mem_tlb_complete(struct tlb_spec *tlb)
{
    struct cache_spec *entries = &tlb->entries;
    uint64_t count = (uint64_t)entries->sets * entries->ways;
    if (entries->unequal_count) {
        count = 0;
        for (uint32_t i = 0; i < entries->unequal_count; i++) {
            count += entries->ways_per_set[i];
        }
    }
    entries->size_bytes = count * entries->line_bytes;
    entries->sector_bytes = entries->line_bytes;
    entries->address = ADDRESS_VIRTUAL;
    entries->write = WRITE_BACK; /* nobody writes */
    entries->data_bytes_per_cycle = 0;
}

int mem_translator_create(struct mem_translator **out, struct engine *engine, uint32_t source,
                          uint32_t entries, struct mem_cache *tlb, struct mem_port below,
                          struct mem_port downstream)
{
    *out = NULL;
    if (entries == 0) {
        return error_set(SONDE_EINPUT, "a translator must hold at least 1 request");
    }
    struct mem_translator *translator = calloc(1, sizeof *translator);
    if (!translator) {
        return error_memory();
    }
    *translator = (struct mem_translator){
        .engine = engine, .tlb = tlb, .below = below, .downstream = downstream, .entries = entries};
    waiters_init(&translator->space, engine, source);
    pool_init(&translator->translations, sizeof(struct translation));
    *out = translator;
    return 0;
}

void mem_translator_destroy(struct mem_translator *translator)
{
    if (translator) {
        waiters_free(&translator->space);
        pool_free_all(&translator->translations);
        free(translator);
    }
}

static bool has_space(const struct mem_translator *translator)
{
    return translator->waiting < translator->entries && !translator->tlb_refused &&
           !translator->out.head;
}

static void on_downstream_space(void *ctx, uint64_t arg);

static void flush_out(struct mem_translator *translator)
{
    struct mem_port *downstream = &translator->downstream;
    struct mem_request *head;
    while ((head = translator->out.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        if (!downstream->send(downstream->self, head)) {
            downstream->when_space(downstream->self, on_downstream_space, translator, 0);
            return;
        }
        translator->out.head = next;
    }
}

static void on_downstream_space(void *ctx, uint64_t arg)
{
    struct mem_translator *translator = ctx;
    (void)arg;
    flush_out(translator);
    if (has_space(translator)) {
        waiters_wake(&translator->space);
    }
}

/* Translated: on, behind those that downstream has refused. */
static void pass_on(struct mem_translator *translator, struct mem_request *request)
{
    struct mem_port *downstream = &translator->downstream;
    if (translator->out.head) {
        request_list_push(&translator->out, request);
    } else if (!downstream->send(downstream->self, request)) {
        request_list_push(&translator->out, request);
        downstream->when_space(downstream->self, on_downstream_space, translator, 0);
    }
}

static void on_translated(void *ctx, uint64_t arg)
{
    struct translation *translation = ctx;
    (void)arg;
    struct mem_translator *translator = translation->translator;
    struct mem_request *request = translation->held;
    pool_put(&translator->translations, translation);
    translator->waiting--;
    request->arrive_ps = engine_now_ps(translator->engine);
    pass_on(translator, request);
    if (has_space(translator)) {
        waiters_wake(&translator->space);
    }
}

static void on_tlb_space(void *ctx, uint64_t arg)
{
    struct mem_translator *translator = ctx;
    (void)arg;
    translator->tlb_refused = false;
    if (has_space(translator)) {
        waiters_wake(&translator->space);
    }
}

/* Ask for the page and keep the request meanwhile. False: the TLB takes no more. */
static bool ask(struct mem_translator *translator, struct mem_request *request)
{
    struct translation *translation = pool_take(&translator->translations);
    if (!translation) {
        engine_fail(translator->engine, SONDE_ENOMEM);
        return false;
    }
    *translation = (struct translation){.translator = translator,
                                        .held = request,
                                        .ask = {.vaddr = request->vaddr,
                                                .paddr = request->paddr,
                                                .bytes = 1,
                                                .sm = request->sm,
                                                .kind = MEM_READ,
                                                .arrive_ps = request->arrive_ps,
                                                .reply = on_translated,
                                                .ctx = translation}};
    if (!translator->below.send(translator->below.self, &translation->ask)) {
        pool_put(&translator->translations, translation);
        translator->tlb_refused = true;
        translator->below.when_space(translator->below.self, on_tlb_space, translator, 0);
        return false;
    }
    translator->waiting++;
    return true;
}

static bool translator_send(void *self, struct mem_request *request)
{
    struct mem_translator *translator = self;
    if (!has_space(translator)) {
        return false;
    }
    uint64_t ready_ps;
    if (translator->tlb &&
        mem_cache_hit_now(translator->tlb, request->vaddr, request->arrive_ps, &ready_ps)) {
        request->arrive_ps = ready_ps;
        pass_on(translator, request);
        return true;
    }
    return ask(translator, request);
}

static void translator_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct mem_translator *translator = self;
    waiters_add(&translator->space, handler, ctx, arg);
    if (has_space(translator)) {
        waiters_wake(&translator->space);
    }
}

struct mem_port mem_translator_port(struct mem_translator *translator)
{
    return (struct mem_port){
        .send = translator_send, .when_space = translator_when_space, .self = translator};
}
