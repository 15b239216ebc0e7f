/* The text of small_products.c for one type. */

/* c = a times rows of GS_SMALL numbers that lie `step` numbers apart. */
GS_INLINE void
NAME(times_rows)(const gs_gemm_job *job, const REAL *rows, npy_intp step)
{
    const REAL *a = (const REAL *)job->a;
    for (npy_intp i = 0; i < job->m; i++) {
        REAL sums[GS_SMALL] = {0}, *c = (REAL *)job->c + i * job->c_row;
        for (npy_intp k = 0; k < job->k; k++) {
            REAL factor = a[i * job->a_row + k * job->a_column];
            for (int j = 0; j < GS_SMALL; j++) {
                sums[j] += factor * rows[k * step + j];
            }
        }
        memcpy(c, sums, sizeof(REAL) * (size_t)job->n);
    }
}

/* Rows that are not what a vector is loaded from are copied, with zeros after their end. */
GS_CLONES static void
NAME(product)(const gs_gemm_job *job)
{
    const REAL *b = (const REAL *)job->b;
    if (job->b_column == 1 && job->n == GS_SMALL) {
        NAME(times_rows)(job, b, job->b_row);
        return;
    }
    REAL rows[GS_SMALL * GS_SMALL] = {0};
    for (npy_intp k = 0; k < job->k; k++) {
        for (npy_intp j = 0; j < job->n; j++) {
            rows[k * GS_SMALL + j] = b[k * job->b_row + j * job->b_column];
        }
    }
    NAME(times_rows)(job, rows, GS_SMALL);
}
