/* The lane loops for any processor. */
#define LANE_TARGET
#define LANE_TABLE lanes_portable
#define LANE_TABLE_NAME "portable"
#define LANE_SPECIAL NULL
#define LANE_COMPARES NULL
#include "exec/lane/lanes.inc"
