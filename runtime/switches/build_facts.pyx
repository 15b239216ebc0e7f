"""How the package was compiled, and which clones of its kernels this processor runs.

The instruction sets are those of GS_CLONES in simd.h; the loader chooses among the clones by the same question to the
processor.
"""

cdef extern from *:
    """
    #include "runtime/arrays/kernels/support/simd.h"

    #define GS_TEXT_OF(...) #__VA_ARGS__
    #define GS_TEXT(...) GS_TEXT_OF(__VA_ARGS__)

    #if defined(__clang__)
    #define GS_COMPILER "Clang " __clang_version__
    #elif defined(__GNUC__)
    #define GS_COMPILER "GCC " __VERSION__
    #elif defined(_MSC_VER)
    #define GS_COMPILER "MSVC " GS_TEXT(_MSC_VER)
    #else
    #define GS_COMPILER "an unknown compiler"
    #endif

    /* GS_CLONES is nothing where kernels are compiled once. */
    static int gs_has_clones(void) { return sizeof(GS_TEXT(GS_CLONES)) > 1; }

    static const char *gs_instruction_set(void)
    {
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
        if (gs_has_clones()) {
            __builtin_cpu_init();
            if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl"))
                return "AVX-512 (x86-64-v4)";
            if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
                return "AVX2 (x86-64-v3)";
        }
    #endif
    #if defined(__AVX512F__)
        return "AVX-512";
    #elif defined(__AVX2__)
        return "AVX2";
    #elif defined(__x86_64__) || defined(_M_X64)
        return "SSE2 (x86-64)";
    #elif defined(__aarch64__) || defined(_M_ARM64)
        return "NEON (AArch64)";
    #else
        return "the compiler's baseline";
    #endif
    }
    """
    const char *GS_COMPILER
    bint gs_has_clones() noexcept
    const char *gs_instruction_set() noexcept


def compiler():
    """Name and version of the C compiler."""
    return (<bytes>GS_COMPILER).decode("ascii", "replace").strip()


def has_clones():
    """Were kernels compiled once for each of several instruction sets?"""
    return gs_has_clones()


def instruction_set():
    """The instruction set of the kernels that run here."""
    return (<bytes>gs_instruction_set()).decode("ascii")
