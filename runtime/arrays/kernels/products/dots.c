/* Note [Dots]
 *
 * Gradients of matrices are often sums over many samples: a matrix of 10 x 10,000 times one of 10,000 x 10, both with their
 * long direction in one piece.  Each element of the result is a dot product of two rows that lie in memory as a vector unit
 * wants them, so nothing is packed.  A tile of up to 5 x 5 sums is kept in registers, a vector for each: ten loads for 25
 * multiply-adds.  Rows are taken in parts that stay in the first cache while all tiles read them.
 *
 * The lanes of a sum are added at the end: the order of summation follows from the shape alone.
 */
#include "products/dots.h"
#include "products/avx512.h"

#include <string.h>

#define MOST_DOTS 24      /* rows, and columns */
#define LEAST_BYTES 2048  /* of a row: in the end the lanes of each sum are added, which costs as much as several vectors */
#define TILE 5            /* rows and columns of a tile */
#define PART_BYTES 65536  /* of all rows and columns in a part */

#ifdef GS_HAS_AVX512

#include "support/with_float32.h"
#define LANES 16
#include "products/dots_template.h"
#undef LANES

#include "support/with_float64.h"
#define LANES 8
#include "products/dots_template.h"
#undef LANES

/* Panels without padding, read by enough rows, are worth packing. */
static int
fills_panels(const gs_gemm_job *job, npy_intp size)
{
    return job->n * size % 128 == 0 && job->m > 2 * TILE;
}

int
gs_suits_dots(const gs_gemm_job *job)
{
    npy_intp size = job->type == NPY_FLOAT32 ? 4 : 8;
    return job->m <= MOST_DOTS && job->n <= MOST_DOTS && job->k * size >= LEAST_BYTES && job->a_column == 1 &&
           job->b_row == 1 && !fills_panels(job, size);
}

void
gs_dots(const gs_gemm_job *job)
{
    if (job->type == NPY_FLOAT32) {
        multiply_rows_float32(job);
    } else {
        multiply_rows_float64(job);
    }
}

#else

int
gs_suits_dots(const gs_gemm_job *job)
{
    (void)job;
    return 0;
}

void
gs_dots(const gs_gemm_job *job)
{
    (void)job;
}

#endif
