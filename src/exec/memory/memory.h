/*
 * The memory image of one simulated device. One reserved host range (MAP_NORESERVE, at a fixed
 * address so that device addresses are the same in every run) backs all device memory: a device
 * virtual address is the host address of the byte. Allocations are recorded so that an access
 * outside any of them is a fault that names the address and its nearest neighbour. Pages are
 * touched lazily by the host's kernel: 100 GiB may be allocated of which little is used. Physical
 * addresses are the business of rt (page tables), not of this file.
 */
#ifndef SONDE_EXEC_MEMORY_H
#define SONDE_EXEC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec_memory;

/* `capacity_bytes`: the device's memory; the reserved virtual range is larger (see the .c file). */
int exec_memory_create(struct exec_memory **out, uint64_t capacity_bytes);
/* The same below 4 GiB, where pointers of 32 bits reach it; SONDE_EUNSUPPORTED if it has no room.
 */
int exec_memory_create_narrow(struct exec_memory **out, uint64_t capacity_bytes);
void exec_memory_destroy(struct exec_memory *memory);

/* Map [address, address + bytes) as valid. rt chooses addresses; SONDE_EINPUT if it overlaps. */
int exec_memory_map(struct exec_memory *memory, uint64_t address, uint64_t bytes);
/* How often that and the next have been done. */
uint64_t exec_memory_changes(const struct exec_memory *memory);
/* Forget the mapping that starts at `address`; its bytes read as zero when they are mapped again.
 */
int exec_memory_unmap(struct exec_memory *memory, uint64_t address);
/* The same for bytes inside the reserved range that were used without a mapping. */
void exec_memory_discard(struct exec_memory *memory, uint64_t address, uint64_t bytes);
uint64_t exec_memory_base(const struct exec_memory *memory);
uint64_t exec_memory_range_bytes(const struct exec_memory *memory);

/* The fast check of every access: true if all bytes lie in one mapping (a last-hit cache inside).
 */
bool exec_memory_valid(struct exec_memory *memory, uint64_t address, uint64_t bytes);

/* Only whether the bytes are inside the reserved range, so that touching them cannot crash the
 * host. */
bool exec_memory_in_range(const struct exec_memory *memory, uint64_t address, uint64_t bytes);

/* Fill text with what is near a bad address, for fault messages. */
void exec_memory_describe(const struct exec_memory *memory, uint64_t address, char *text,
                          size_t size);

#endif
