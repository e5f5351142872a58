/* Faults of a running kernel: the error text with all coordinates of the thread that caused it. */
#ifndef SONDE_EXEC_FAULT_H
#define SONDE_EXEC_FAULT_H

#include "exec/exec.h"

/*
 * Sets the error "file:line:column: kernel 'k': TEXT; lane l, thread (x,y,z) of CTA (x,y,z)" and
 * the warp's fault record. Returns SONDE_EFAULT.
 */
int fault_set(struct exec_warp *warp, uint32_t pc, uint32_t lane, uint64_t address, const char *fmt,
              ...) __attribute__((format(printf, 5, 6)));

/* The file that the instruction at `pc` stands in. */
const char *fault_file(const struct exec_program *program, uint32_t pc);

/* The coordinates of the lane's thread in its CTA. */
void fault_thread(uint32_t tid[3], const struct exec_warp *warp, uint32_t lane);

/* The same for an error that is already set and concerns the whole warp. */
int fault_wrap(struct exec_warp *warp, uint32_t pc, int code);

#endif
