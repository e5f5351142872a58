/*
 * Stores to device memory that nobody else sees yet. Where several SMs execute at the same time,
 * each has a buffer like this: its stores go there, its own loads find them, and the image changes
 * only when the buffer is published, while nobody executes. So what an SM reads never depends on
 * how far another has come.
 */
#ifndef SONDE_EXEC_STORES_H
#define SONDE_EXEC_STORES_H

#include <stdbool.h>
#include <stdint.h>

struct exec_stores;

/* SONDE_ENOMEM. */
int exec_stores_create(struct exec_stores **out);
void exec_stores_destroy(struct exec_stores *stores);

/* Later bytes replace earlier ones. SONDE_ENOMEM. */
int exec_stores_put(struct exec_stores *stores, uint64_t address, const void *bytes,
                    uint32_t count);
bool exec_stores_empty(const struct exec_stores *stores);
/* Whether a store may have touched [address, address + count). */
bool exec_stores_may_hold(const struct exec_stores *stores, uint64_t address, uint32_t count);
/* Lay what was stored to [address, address + count) over `bytes`, which hold what memory had. */
void exec_stores_patch(const struct exec_stores *stores, uint64_t address, void *bytes,
                       uint32_t count);
/* Write everything to memory, in place of which device addresses are host addresses; empty then. */
void exec_stores_publish(struct exec_stores *stores);
/* Forget everything. */
void exec_stores_clear(struct exec_stores *stores);

#endif
