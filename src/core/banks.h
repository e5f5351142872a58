/*
 * Shared memory's banks. Successive words of bank_bytes lie in successive banks; in one pass each
 * bank delivers one word, to as many lanes as ask for it (broadcast). Lanes that want different
 * words of one bank conflict, and the access is repeated until all are served.
 */
#ifndef SONDE_CORE_BANKS_H
#define SONDE_CORE_BANKS_H

#include <stdint.h>

#include "core/spec.h"
#include "exec/exec.h"

#define BANKS_MAX 64

/* Passes that the access takes: 1 without conflicts, 0 when no lane accesses. */
uint32_t banks_passes(const struct shared_spec *spec, const struct exec_access *access);

#endif
