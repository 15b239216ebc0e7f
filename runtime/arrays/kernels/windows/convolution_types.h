/* The inner loops of convolution.c for both types; included for each instruction set. */
#define REAL float
#define SUFFIX float
#define INTEGER int32_t
#define MASKS masks_of_floats
#include "convolution_kernels.h"
#undef REAL
#undef SUFFIX
#undef INTEGER
#undef MASKS
#define REAL double
#define SUFFIX double
#define INTEGER int64_t
#define MASKS masks_of_doubles
#include "convolution_kernels.h"
#undef REAL
#undef SUFFIX
#undef INTEGER
#undef MASKS
