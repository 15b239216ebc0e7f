/* The inner loops of attention.c for both types; included for each instruction set. */
#define REAL float
#define SUFFIX float
#include "attention_kernels.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX double
#include "attention_kernels.h"
#undef REAL
#undef SUFFIX
