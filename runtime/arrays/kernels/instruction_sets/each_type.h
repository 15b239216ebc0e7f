/* Includes KERNELS for both types, of the instruction set of each_kernel.h. */
#if defined(__GNUC__) || defined(__clang__)
#define LANES ((int)(BYTES / sizeof(REAL)))
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE TARGET static inline __attribute__((always_inline))
#else
#define LANES 1
#define UNROLL
#define INLINE static inline
#endif
#define REAL float
#define SUFFIX float
#define INTEGER int32_t
#include "vectors.h"
#include KERNELS
#undef REAL
#undef SUFFIX
#undef INTEGER
#define REAL double
#define SUFFIX double
#define INTEGER int64_t
#include "vectors.h"
#include KERNELS
#undef REAL
#undef SUFFIX
#undef INTEGER
#undef LANES
#undef UNROLL
#undef INLINE
