/*
 * What a lone warp has issued before it issues again by rote: rote.c repeats, learn.c learns.
 *
 * When nothing else happens in an SM, when its instructions issue follows from where the warp is
 * and from how much of its registers' and units' waiting is left. A passage is what follows, cycle
 * by cycle, from one such state to a branch, or to an instruction that waits for memory or acts on
 * others. It has been seen once, as the issue stage did it, and holds which instructions came, in
 * which cycles after its start, and all that had changed at its end: results' cycles, units,
 * counts. To repeat it the instructions execute and the changes are made, in one go. At a branch
 * it goes on with the passage that followed when the branch went that way before; a load is issued
 * as the last of its passage.
 *
 *     passage ---------> branch --- taken -----> passage ---> load
 *       st, mov, st, mad  setp, bra   \--- on ---> passage ...
 *
 * A state is all waiting that is left, relative to the cycle; passages are entered where none is.
 * They belong to a program, and each SM has its own. What looks at the SM (a profile) sees no
 * instruction issue here, so that nothing is repeated then.
 */
#ifndef SONDE_CORE_ISSUE_ROTE_H
#define SONDE_CORE_ISSUE_ROTE_H

#include "core/issue/issue.h"
#include "exec/run/row.h"
#include "util/container/arena.h"

#define ROTE_BOOKS 4
#define ROTE_ENTRIES 64     /* of a book at most: where passages are entered, by the pc */
#define ROTE_PASSAGES 256   /* of a book */
#define ROTE_ITEMS 512      /* of a passage */
#define ROTE_ATTEMPTS 4     /* at learning one, or at how its branch goes */
#define ROTE_LEAST 3        /* items of one that is worth entering */
#define ROTE_PLACES_MAX 256 /* of the scoreboard, of a program that is learned */

/* A result is there so many cycles after the passage's start. */
struct rote_result {
    uint32_t place;
    uint32_t cycle;
};

/* A unit is free so many lanes after the start. */
struct rote_unit {
    uint32_t unit;
    uint64_t lanes;
};

/* A word of sm_stats has grown. */
struct rote_count {
    uint32_t word;
    uint32_t more;
};

/* All that a passage has changed from its start to some step of it. Cycles are counted from its
 * start. */
struct rote_change {
    uint32_t cycle; /* that of the step, the next one worth a look */
    uint32_t steps; /* from one cycle worth a look to the next */
    uint32_t issued, next_issue, scheduler_next;
    uint32_t warp_insns;
    uint16_t part, held;
    bool scheduler_issued; /* its `next_cycle` is another */
    bool first_scheduler;  /* it found its unit taken */
    enum sm_wait wait;
    uint32_t latest_result;
    uint32_t result_count, unit_count, count_count;
    struct rote_result *result;
    struct rote_unit *unit;
    struct rote_count *count;
    uint64_t times; /* that it was made and is not counted yet: then it is in a list */
    struct rote_change *next_made;
};

/* Where a passage can stop on the way: at a step that begins with an access of shared memory. */
struct rote_stop {
    uint32_t items; /* before it */
    struct rote_change change;
};

struct rote_way {
    bool known;
    uint32_t pc; /* then */
    struct rote_change change;
    struct rote_passage *next;
};

/* What is left to wait for. Zero: nothing. */
struct rote_state {
    uint32_t next_issue, scheduler, shared;
    uint16_t part, held;
    uint64_t unit[ISA_UNIT_COUNT]; /* of the warp's sub-core, in lanes */
    uint32_t place[ROTE_PLACES_MAX];
};

struct rote_passage {
    uint32_t pc, lanes;                /* where it begins; active lanes */
    uint32_t attempts;                 /* so far */
    bool learned;                      /* but for ways that are not known */
    bool is_short;                     /* not worth repeating from its start */
    bool is_linked;                    /* another goes on with it */
    uint32_t count;                    /* items in a row */
    uint32_t branch_count, load_count; /* of the step behind, which ends in one; 0: none does */
    uint32_t longest;                  /* cycles, with the branch, and .. */
    uint32_t steps;                    /* .. steps at most */
    struct exec_row_item *item;        /* all of them, the last step's last */
    uint32_t stop_count;
    struct rote_stop *stop;
    struct rote_change whole; /* up to the branch's step, or to what it leaves alone */
    struct rote_change load;  /* up to the load, which has issued: but for what becomes of it */
    struct rote_way way[2];   /* enum exec_row_way: ROW_ON, ROW_TAKEN */
    const struct rote_state *state;     /* where it begins, .. */
    const struct rote_state *at_branch; /* .. and where its branch's step does, if it has one */
};

/* Passages of a program. */
struct rote_book {
    const struct exec_uop_info *program; /* NULL: the book is empty */
    uint64_t code;
    uint32_t slots; /* its places of the scoreboard */
    struct arena *arena;
    struct rote_passage *entry[ROTE_ENTRIES];
    struct rote_passage *passage[ROTE_PASSAGES];
    uint32_t passages;
    /* The units that any of them asks for. */
    uint32_t unit_count;
    uint8_t unit[ISA_UNIT_COUNT]; /* as sm_warp.units knows them */
};

struct rote {
    struct rote_book book[ROTE_BOOKS];
    bool is_open;           /* since the last launch */
    struct rote_book *open; /* NULL: its program is not to be learned */
    uint64_t opened;        /* and closed, so many times */
    uint32_t oldest;
    struct rote_change *made; /* those that are to be counted */
    uint64_t insns;           /* warp instructions that have been repeated and counted */
    struct rote_learner *learner;
};

/* books.c. The book that is open until the next launch, and may be another program's: that of the
 * first warp that asks. NULL: there is none. */
struct rote_book *rote_open(struct sm *sm, const struct sm_warp *warp);

/* rote.c. */
enum rote_end {
    ROTE_AT_STEP, /* nothing, or up to the cycle in which the SM is now: nothing in it has issued */
    ROTE_STEP_OVER /* the instructions of the cycle have issued */
};
/* The one ready warp, beside which nothing is due, repeats what it can, or is watched. *next: of a
 * step that is over, the next cycle worth a look. */
enum rote_end rote_go(struct sm *sm, uint64_t *next);

/* learn.c. The warp has come to a place where a passage may be entered, `*entry`: when it comes
 * again, it is learned. */
void rote_enter(struct sm *sm, struct rote_passage **entry, const struct sm_warp *warp);
/* Issues as issue_now() does, and watches: from the passage's start, or from the branch behind a
 * learned one. */
enum rote_end rote_learn(struct sm *sm, struct rote_passage *passage, uint64_t *next);

#endif
