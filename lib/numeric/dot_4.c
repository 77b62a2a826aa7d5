/* Products of tiles for any processor: vectors of 16 bytes. */
#define TARGET
#define LANES         4
#define NUM_DOT_TABLE num_dot_lanes_4
#include "lib/numeric/dot_lanes.h"
