/* The inner loops of row_products.c for both types; included for each instruction set. */
#define REAL float
#define SUFFIX float
#include "row_products_template.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX double
#include "row_products_template.h"
#undef REAL
#undef SUFFIX
