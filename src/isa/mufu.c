/* See mufu.h. */
#include "isa/mufu.h"

#define MUFU_ROW(c0, c1, c2) {c0, c1, c2},
const struct mufu_row mufu_rcp_rows[MUFU_SEGMENTS] = {
#include "isa/mufu_rcp.def"
};
#define MUFU_ROW(c0, c1, c2) {c0, c1, c2},
const struct mufu_row mufu_rsqrt_rows[MUFU_SEGMENTS] = {
#include "isa/mufu_rsqrt.def"
};
#define MUFU_ROW(c0, c1, c2) {c0, c1, c2},
const struct mufu_row mufu_sqrt_rows[MUFU_SEGMENTS] = {
#include "isa/mufu_sqrt.def"
};
#define MUFU_ROW(c0, c1, c2) {c0, c1, c2},
const struct mufu_row mufu_ex2_rows[MUFU_EX2_SEGMENTS] = {
#include "isa/mufu_ex2.def"
};
