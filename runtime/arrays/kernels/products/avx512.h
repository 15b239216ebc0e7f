/* What kernels for processors with AVX-512 are written with; GS_HAS_AVX512 says that this build has them. */
#ifndef GRADSMITH_PRODUCTS_AVX512_H
#define GRADSMITH_PRODUCTS_AVX512_H

#include "support/numpy_api.h"
#include "support/simd.h"

#if defined(__x86_64__) && !defined(GRADSMITH_NO_CLONES) && GRADSMITH_HIGHEST_LEVEL >= 4 && \
    ((defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 12))
#define GS_HAS_AVX512

#define AVX512_FEATURES "avx512f,avx512vl,avx512bw,avx512dq,fma"
#if defined(__clang__)
/* Without a minimal width clang splits vectors of 64 bytes in two. */
#define AVX512 __attribute__((target(AVX512_FEATURES), min_vector_width(512)))
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define AVX512 __attribute__((target(AVX512_FEATURES)))
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE_AVX512 AVX512 static inline __attribute__((always_inline))

typedef enum { SET, ADD, SUBTRACT } write_mode; /* what sums do to c */

/* Fetching: while one part is multiplied, the next one comes from memory, so that reading it need not wait. */
typedef struct {
    const char *row;
    npy_intp row_step;
    npy_intp rows;  /* left */
    npy_intp bytes; /* of a row */
    npy_intp rows_at_once;
} fetching;

static inline void
fetch(fetching *f)
{
    npy_intp n = f->rows < f->rows_at_once ? f->rows : f->rows_at_once;
    f->rows -= n;
    for (; n > 0; n--, f->row += f->row_step) {
        for (npy_intp i = 0; i < f->bytes; i += 64) {
            __builtin_prefetch(f->row + i, 0, 2);
        }
    }
}

/* One operand: its lines, which are rows of a or columns of b, and distances between them and between terms. */
typedef struct {
    const char *matrix;
    npy_intp lines, line_step, term_step, size; /* steps in elements of this size */
} terms_of;

#define FEW_LINES 32

/* Terms of the next part, of few lines: too few to be packed ahead of time, and so far apart, or read so fast, that the
 * processor does not fetch them in time by itself. */
static inline void
fetch_terms(terms_of all, npy_intp first, npy_intp count)
{
    int by_lines = all.term_step == 1;
    npy_intp bytes = (by_lines ? count : all.lines) * all.size, rows = by_lines ? all.lines : count;
    if (count <= 0 || all.lines > FEW_LINES) {
        return;
    }
    const char *start = all.matrix + first * all.term_step * all.size;
    fetching part = {start, (by_lines ? all.line_step : all.term_step) * all.size, rows, bytes, rows};
    fetch(&part);
}

#endif

#endif
