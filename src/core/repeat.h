/*
 * The SM's part in telling that a kernel is endless (gpu/endless.c). While somebody asks, every
 * instruction that issues and every access that takes effect is looked at: does it change anything
 * that another warp sees, or depend on anything but the warp's own state and memory? Where a warp
 * branches with no access of its own on the way its state is compared with one in which it was;
 * the one it is compared with is renewed after 1, 2, 4, 8, .. branches, so that a round of any
 * length is found within about three of its length (Brent 1980, "An improved Monte Carlo
 * factorization algorithm", section 2).
 */
#ifndef SONDE_CORE_REPEAT_H
#define SONDE_CORE_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/exec.h"

struct sm;
struct sm_warp;

/* Something has changed, or will: nobody need look any further. */
void repeat_moved(struct sm *sm);
/* While sm->repeats: the warp has issued an instruction; an access is about to take effect. */
void repeat_issued(struct sm *sm, const struct sm_warp *warp, const struct exec_uop_info *info,
                   enum exec_event event);
void repeat_commits(struct sm *sm, const struct sm_warp *warp, const struct exec_access *access);

#endif
