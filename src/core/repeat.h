/*
 * Detection of livelock: the SM's part of gpu/endless.c. While it is on, the SM inspects every
 * instruction that issues and every access that takes effect: does it change what another warp can
 * read, or depend on anything but the warp's own state and memory?
 *
 *   state       what a warp's next steps depend on, at a branch with no access of its own in flight
 *   checkpoint  an earlier state, with which the warp's state is compared
 *   loop        the branches from one state to the same state again
 *
 * The checkpoint is renewed after 1, 2, 4, 8, .. branches, so a loop of any length is found within
 * about three times its length (Brent 1980, "An improved Monte Carlo factorization algorithm",
 * section 2).
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
