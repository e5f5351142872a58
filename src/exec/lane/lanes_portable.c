/* The lane loops for any processor. */
#define LANE_TARGET
#define LANE_TABLE lanes_portable
#define LANE_TABLE_NAME "portable"
#include "exec/lane/lanes.inc"
