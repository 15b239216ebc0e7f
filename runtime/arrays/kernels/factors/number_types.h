/* Written before each `#include` of a template of this folder, after FACTOR_TYPE, which is 0 to 3: NUMBER is the type,
 * REAL_NUMBER that of its parts, LEAST the smallest normal one; NAME(x) adds the type's suffix, LANES numbers make a
 * vector.  It has 32 bytes on all machines: where registers have no more, the compiler splits wider ones and keeps them
 * in memory.  Complex numbers are computed one by one. */
#undef NUMBER
#undef REAL_NUMBER
#undef NAME
#undef LANES
#undef LEAST
#undef MAGNITUDE
#undef SUBTRACT

#if FACTOR_TYPE == 0
#define NUMBER float
#define REAL_NUMBER float
#define NAME(x) x##_float32
#define LEAST FLT_MIN
#define LANES 8
#elif FACTOR_TYPE == 1
#define NUMBER double
#define REAL_NUMBER double
#define NAME(x) x##_float64
#define LEAST DBL_MIN
#define LANES 4
#elif FACTOR_TYPE == 2
#define NUMBER float _Complex
#define REAL_NUMBER float
#define NAME(x) x##_complex64
#define LEAST FLT_MIN
#define LANES 1
#else
#define NUMBER double _Complex
#define REAL_NUMBER double
#define NAME(x) x##_complex128
#define LEAST DBL_MIN
#define LANES 1
#endif

#if LANES > 1
typedef NUMBER NAME(vector) __attribute__((vector_size(32)));
typedef NUMBER NAME(unaligned) __attribute__((vector_size(32), aligned(sizeof(NUMBER))));
#define MAGNITUDE(x) fabs((double)(x))
#define SUBTRACT(sum, factor, x) ((sum) -= (factor) * (x))
#else
typedef NUMBER NAME(vector);
typedef NUMBER NAME(unaligned);
/* LAPACK's measure of complex numbers. */
#define MAGNITUDE(x) (fabs((double)__real__(x)) + fabs((double)__imag__(x)))
/* Without the care for infinities that C's own product takes. */
#define SUBTRACT(sum, factor, x)                                                        \
    (__real__(sum) -= __real__(factor) * __real__(x) - __imag__(factor) * __imag__(x),  \
     __imag__(sum) -= __real__(factor) * __imag__(x) + __imag__(factor) * __real__(x))
#endif
