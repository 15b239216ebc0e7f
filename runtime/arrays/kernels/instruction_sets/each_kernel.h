/* Includes KERNELS for both types and each instruction set.
 *
 * There REAL is the type, INTEGER one of its size, and NAME(x) adds the suffix of type and instruction set; BYTES is the
 * size of a vector, ROWS how many pairs of them the registers hold beside operands, TARGET the attribute of functions.
 * BEST_KERNELS(name, type) is the address of the `name` for a type that this machine runs best. */
#define SUFFIXED_(name, suffix, isa) name##_##suffix##_##isa
#define SUFFIXED(name, suffix, isa) SUFFIXED_(name, suffix, isa)
#define NAME(x) SUFFIXED(x, SUFFIX, ISA)

#define TARGET
#define BYTES 16
#define ROWS 4
#define ISA baseline
#include "each_type.h"
#undef TARGET
#undef BYTES
#undef ROWS
#undef ISA

#if !defined(GRADSMITH_NO_CLONES) && defined(__x86_64__) && defined(__GNUC__)
#define HAS_ISAS
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define ROWS 6
#define ISA avx2
#include "each_type.h"
#undef TARGET
#undef BYTES
#undef ROWS
#undef ISA
#endif

#if defined(HAS_ISAS) && GRADSMITH_HIGHEST_LEVEL >= 4
#define HAS_AVX512
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma"), min_vector_width(512)))
#else
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
#endif
#define BYTES 64
#define ROWS 12
#define ISA avx512
#include "each_type.h"
#undef TARGET
#undef BYTES
#undef ROWS
#undef ISA
#endif
#undef NAME

#define OF_TYPE(name, type, isa) ((type) == NPY_FLOAT32 ? &name##_float_##isa : &name##_double_##isa)

#if defined(HAS_AVX512)
static int
runs_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#define OR_AVX512(name, type, others) (runs_avx512() ? OF_TYPE(name, type, avx512) : (others))
#else
#define OR_AVX512(name, type, others) (others)
#endif

#if defined(HAS_ISAS)
static int
runs_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#define BEST_KERNELS(name, type) \
    OR_AVX512(name, type, (runs_avx2() ? OF_TYPE(name, type, avx2) : OF_TYPE(name, type, baseline)))
#else
#define BEST_KERNELS(name, type) OF_TYPE(name, type, baseline)
#endif
