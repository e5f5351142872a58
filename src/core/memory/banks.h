/*
 * Shared memory's banks. Successive words of word_bytes lie in successive banks, and a row of a
 * bank holds bank_bytes; in one pass each bank delivers one row, to as many lanes as ask for any of
 * it (broadcast). Lanes that want different rows of one bank conflict, and the access is repeated
 * until all are served. Where a row is one word (Fermi) that is the rule of different words. With
 * rows of 8 bytes (Kepler) the driver may choose words of 8 or of 4 bytes; of the latter, word w
 * and word w + banks share a row:
 *
 *     bytes of the address    | row | word in the row | bank | byte of the word |
 *
 * Source: Mei et al., NPC 2014, section 4.1 and Fig. 6.
 */
#ifndef SONDE_CORE_MEMORY_BANKS_H
#define SONDE_CORE_MEMORY_BANKS_H

#include <stdint.h>

#include "core/spec.h"
#include "exec/exec.h"

#define BANKS_MAX 64

/* Passes that the access takes, of shared memory or of L1's data: 1 without conflicts, 0 when no
 * lane accesses. */
uint32_t banks_passes(const struct shared_spec *spec, const struct exec_access *access);

#endif
