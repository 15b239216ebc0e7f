/* Note [Small products]
 *
 * A product of two 4 x 4 matrices is 64 multiplications, some 10 ns; BLAS takes three times as long, and a batch of 3 x 3
 * or 4 x 4 matrices is what is asked for most.  Each row of the result is a sum of rows of the right operand, as long as a
 * vector: loops whose bounds are constants, which a compiler unrolls.  From five columns on BLAS is as fast.
 */
#include "products/small_products.h"
#include "support/simd.h"

#include "support/with_float32.h"
#include "small_products_template.h"

#include "support/with_float64.h"
#include "small_products_template.h"

void
gs_small_product(const gs_gemm_job *job)
{
    if (job->type == NPY_FLOAT32) {
        product_float32(job);
    } else {
        product_float64(job);
    }
}
