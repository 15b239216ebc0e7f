/* Note [Narrow products]
 *
 * The last layer of a classifier has ten columns or so.  Panels would be padding for the most part, and packing both operands,
 * as BLAS does, takes longer than the product.  Here a row of c is one vector of sums, or two, and a row of b as many masked
 * loads: b is read as it lies, or, where its columns lie in one piece, from a copy of LENGTH rows.
 *
 * An element of c is the sum over k in one order, LENGTH terms after LENGTH terms: results do not depend on threads.
 */
#include "products/narrow.h"
#include "products/avx512.h"
#include "threads/thread_pool.h"

#define LENGTH 256   /* terms that are added before sums go to c */
#define MOST_ROWS 16 /* of c whose sums are kept in registers, half as many where a row has two vectors */
#define LEAST_ROWS 4
#define LEAST_ROWS_TO_COPY 8 /* for which the columns of b are copied */
#define LEAST_TERMS 8

#ifdef GS_HAS_AVX512

#include <immintrin.h>

/* One part of a product: terms `first` to `first + length` of every sum. */
typedef struct {
    const gs_gemm_job *job;
    const void *rows_of_b; /* from the first term on */
    npy_intp b_row;
    npy_intp first, length;
} narrow_part;

static write_mode
mode_of(const narrow_part *part)
{
    return part->job->subtracts ? SUBTRACT : part->job->adds || part->first > 0 ? ADD : SET;
}

static int
is_last(const narrow_part *part)
{
    return part->first + part->length == part->job->k;
}

static void
fetch_next(const narrow_part *part)
{
    const gs_gemm_job *job = part->job;
    npy_intp size = job->type == NPY_FLOAT32 ? 4 : 8, first = part->first + part->length;
    npy_intp terms = job->k - first < LENGTH ? job->k - first : LENGTH;
    fetch_terms((terms_of){job->a, job->m, job->a_row, job->a_column, size}, first, terms);
    fetch_terms((terms_of){job->b, job->n, job->b_column, job->b_row, size}, first, terms);
}

#include "support/with_float32.h"
#define LANES 16
#define MASK __mmask16
#define LOAD(mask, from) ((NAME(vector))_mm512_maskz_loadu_ps(mask, from))
#define STORE(to, mask, values) _mm512_mask_storeu_ps(to, mask, (__m512)(values))
#include "products/narrow_template.h"
#undef LANES
#undef MASK
#undef LOAD
#undef STORE

#include "support/with_float64.h"
#define LANES 8
#define MASK __mmask8
#define LOAD(mask, from) ((NAME(vector))_mm512_maskz_loadu_pd(mask, from))
#define STORE(to, mask, values) _mm512_mask_storeu_pd(to, mask, (__m512d)(values))
#include "products/narrow_template.h"
#undef LANES
#undef MASK
#undef LOAD
#undef STORE

int
gs_suits_narrow(const gs_gemm_job *job)
{
    npy_intp rows = job->b_column == 1 ? LEAST_ROWS : LEAST_ROWS_TO_COPY;
    return job->n * (job->type == NPY_FLOAT32 ? 4 : 8) <= 128 && job->m >= rows && job->k >= LEAST_TERMS;
}

void
gs_narrow(const gs_gemm_job *job)
{
    if (job->type == NPY_FLOAT32) {
        multiply_parts_float32(job);
    } else {
        multiply_parts_float64(job);
    }
}

#else

int
gs_suits_narrow(const gs_gemm_job *job)
{
    (void)job;
    return 0;
}

void
gs_narrow(const gs_gemm_job *job)
{
    (void)job;
}

#endif
