/* How kernels reach the vector units of the machine they run on.
 *
 * A kernel is a plain loop.  GS_CLONES compiles it once per instruction set and lets the loader pick the best clone, so
 * that one binary is fast everywhere; without clones a loop with a select (`x > 0 ? g : 0`) is up to 30 times slower on
 * the x86-64 baseline.  GS_IVDEP tells the compiler that iterations do not depend on each other.  Kernels must be
 * compiled with -O3 -fno-math-errno and never with -ffast-math.
 *
 * Build flags: -DGRADSMITH_NO_CLONES (no ifunc dispatch), -DGRADSMITH_NO_LIBMVEC (scalar libm only), and
 * -DGRADSMITH_HIGHEST_LEVEL=3 (nothing beyond x86-64-v3, that is AVX2, on machines that have AVX-512, to test and time).
 */
#ifndef GRADSMITH_SIMD_H
#define GRADSMITH_SIMD_H

#include <math.h>

/* GS_HIDDEN_BEGIN/END enclose declarations that are only used inside one extension module: calls are then direct. */
#if defined(__GNUC__) || defined(__clang__)
#define GS_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define GS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define GS_UNUSED __attribute__((unused))
#define GS_NOINLINE __attribute__((noinline, cold))
#define GS_INLINE static inline __attribute__((always_inline)) /* also into the clones of a caller */
#define GS_HIDDEN_BEGIN _Pragma("GCC visibility push(hidden)")
#define GS_HIDDEN_END _Pragma("GCC visibility pop")
#else
#define GS_LIKELY(condition) (condition)
#define GS_UNLIKELY(condition) (condition)
#define GS_UNUSED
#define GS_NOINLINE
#define GS_INLINE static inline
#define GS_HIDDEN_BEGIN
#define GS_HIDDEN_END
#endif

#ifndef GRADSMITH_HIGHEST_LEVEL
#define GRADSMITH_HIGHEST_LEVEL 4
#endif

/* GS_CLONES: written before a function definition.  Needs ifunc support, that is glibc. */
#if !defined(GRADSMITH_NO_CLONES) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && \
    defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#if GRADSMITH_HIGHEST_LEVEL >= 4
#define GS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GS_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#else
#define GS_CLONES
#endif

/* GS_IVDEP: written before a `for`.  Exact aliasing (output pointer == input pointer) carries no dependence from one
 * iteration to another, so it stays legal; shifted overlap never reaches a kernel. */
#if defined(__clang__)
#define GS_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define GS_IVDEP _Pragma("GCC ivdep")
#else
#define GS_IVDEP
#endif

/* GS_VECTOR: the same for a loop of a few rounds, whose number is known.  GCC would unroll it before it looks for vectors,
 * and then find none. */
#if defined(__GNUC__) && !defined(__clang__)
#define GS_VECTOR _Pragma("GCC unroll 1") _Pragma("GCC ivdep")
#else
#define GS_VECTOR GS_IVDEP
#endif

/* Vector versions of libm.  GCC replaces a call of a function declared `simd` inside a vectorised loop by glibc's
 * libmvec, picking the width of the clone.  "notinbranch": the call must be executed unconditionally in the loop body;
 * under `if` or in an arm of `?:` it stays scalar, so compute first and select afterwards.  Measured with glibc 2.36 on all
 * three instruction sets: errors up to 4 ulp, infinities, NaN and signed zeros as in the scalar functions. */
#if !defined(GRADSMITH_NO_LIBMVEC) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && \
    defined(__GNUC__) && !defined(__clang__)
#define GS_VECTOR_LIBM __attribute__((simd("notinbranch")))
#define GS_VECTOR_1(name)                   \
    GS_VECTOR_LIBM extern double name(double); \
    GS_VECTOR_LIBM extern float name##f(float)
#define GS_VECTOR_2(name)                           \
    GS_VECTOR_LIBM extern double name(double, double); \
    GS_VECTOR_LIBM extern float name##f(float, float)

#if __GLIBC_PREREQ(2, 22)
GS_VECTOR_1(exp);
GS_VECTOR_1(log);
GS_VECTOR_1(sin);
GS_VECTOR_1(cos);
GS_VECTOR_2(pow);
#endif
#if __GLIBC_PREREQ(2, 35)
GS_VECTOR_1(acos);
GS_VECTOR_1(acosh);
GS_VECTOR_1(asin);
GS_VECTOR_1(asinh);
GS_VECTOR_1(atan);
GS_VECTOR_1(atanh);
GS_VECTOR_1(cbrt);
GS_VECTOR_1(cosh);
GS_VECTOR_1(erf);
GS_VECTOR_1(erfc);
GS_VECTOR_1(exp2);
GS_VECTOR_1(expm1);
GS_VECTOR_1(log10);
GS_VECTOR_1(log1p);
GS_VECTOR_1(log2);
GS_VECTOR_1(sinh);
GS_VECTOR_1(tan);
GS_VECTOR_1(tanh);
GS_VECTOR_2(atan2);
GS_VECTOR_2(hypot);
#endif
#endif

#endif
