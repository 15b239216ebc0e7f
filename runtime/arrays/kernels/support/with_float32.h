/* Written before each `#include` of a template: its types and names are those of float32. */
#undef REAL
#undef NAME
#undef LIBM
#define REAL float
#define NAME(x) x##_float32
#define LIBM(name) name##f /* the function of math.h for the type */
