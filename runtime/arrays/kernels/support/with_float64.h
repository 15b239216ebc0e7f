/* Written before each `#include` of a template: its types and names are those of float64. */
#undef REAL
#undef NAME
#undef LIBM
#define REAL double
#define NAME(x) x##_float64
#define LIBM(name) name /* the function of math.h for the type */
