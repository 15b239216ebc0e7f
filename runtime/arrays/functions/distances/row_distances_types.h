/* The loops of row_distances_kernels.c for both types; included for each instruction set. */
#define REAL float
#define BITS uint32_t
#define SUFFIX float
#include "runtime/arrays/functions/distances/row_distances_template.h"
#undef REAL
#undef BITS
#undef SUFFIX
#define REAL double
#define BITS uint64_t
#define SUFFIX double
#include "runtime/arrays/functions/distances/row_distances_template.h"
#undef REAL
#undef BITS
#undef SUFFIX
