/* What is learned by rote (rote.h): the books in which it is kept, and the counts of what has been
 * repeated. */
#include <stdlib.h>

#include "core/issue/rote.h"

void rote_tell(struct sm *sm)
{
    uint64_t *word = (uint64_t *)&sm->stats;
    struct rote_change *change = sm->rote ? sm->rote->made : NULL;
    for (; change; change = change->next_made) {
        for (uint32_t i = 0; i < change->count_count; i++) {
            word[change->count[i].word] += change->count[i].more * change->times;
        }
        sm->rote->insns += change->warp_insns * change->times;
        change->times = 0;
    }
    if (sm->rote) {
        sm->rote->made = NULL;
    }
}

static void book_clear(struct sm *sm, struct rote_book *book)
{
    rote_tell(sm);
    arena_destroy(book->arena);
    *book = (struct rote_book){.arena = NULL};
}

void rote_free(struct rote *rote)
{
    if (!rote) {
        return;
    }
    for (uint32_t i = 0; i < ROTE_BOOKS; i++) {
        arena_destroy(rote->book[i].arena);
    }
    free(rote->learner);
    free(rote);
}

/* The book of a program; else the one that was opened first becomes its. NULL: it is not to be
 * learned. */
static struct rote_book *find_book(struct sm *sm, const struct exec_program *program)
{
    struct rote *rote = sm->rote;
    const struct exec_uop_info *infos = exec_uop_info(program, 0);
    uint64_t code = exec_program_code(program);
    uint64_t slots = program_slots(program);
    if (slots > ROTE_PLACES_MAX) {
        return NULL;
    }
    for (uint32_t i = 0; i < ROTE_BOOKS; i++) {
        if (rote->book[i].program == infos && rote->book[i].code == code) {
            return &rote->book[i];
        }
    }
    struct rote_book *book = &rote->book[rote->oldest++ % ROTE_BOOKS];
    book_clear(sm, book);
    book->arena = arena_create();
    book->program = book->arena ? infos : NULL;
    book->code = code;
    book->slots = (uint32_t)slots;
    return book->arena ? book : NULL;
}

struct rote_book *rote_open(struct sm *sm, const struct sm_warp *warp)
{
    struct rote *rote = sm->rote = sm->rote ? sm->rote : calloc(1, sizeof *sm->rote);
    if (rote && !rote->is_open) {
        rote->is_open = true;
        rote->opened++;
        rote->open = find_book(sm, warp->cta->grid->launch->program);
    }
    return rote ? rote->open : NULL;
}

void rote_close(struct sm *sm)
{
    if (sm->rote) {
        sm->rote->is_open = false;
        sm->rote->open = NULL;
        sm->rote->opened++;
    }
}
