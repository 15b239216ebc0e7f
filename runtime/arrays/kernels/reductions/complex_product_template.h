/* Complex products of integer_complex_product.c for one type of parts: REAL, and NAME(x) adds its suffix. */

/* product *= factor, by the formula that NumPy has. */
GS_INLINE void
NAME(multiply_number)(REAL *product, const REAL *factor)
{
    REAL real = product[0] * factor[0] - product[1] * factor[1];
    product[1] = product[0] * factor[1] + product[1] * factor[0];
    product[0] = real;
}

GS_CLONES static int
NAME(are_finite)(const REAL *x, npy_intp n)
{
    int found = 1;
    for (npy_intp i = 0; i < n; i++) {
        found &= x[i] - x[i] == 0;
    }
    return found;
}

/* As NumPy multiplies them, until the product is what it remains: NaN, or zero beside finite numbers. */
static void
NAME(row_in_order)(const REAL *x, REAL *out, npy_intp n)
{
    REAL product[2] = {x[0], x[1]}; /* of one times infinity the imaginary part would be NaN */
    int was_zero = 0;
    for (npy_intp i = 1; i < n && !(isnan(product[0]) && isnan(product[1])); i++) {
        if (!was_zero && product[0] == 0 && product[1] == 0) {
            was_zero = 1;
            if (NAME(are_finite)(x + 2 * i, 2 * (n - i))) {
                break;
            }
        }
        NAME(multiply_number)(product, x + 2 * i);
    }
    memcpy(out, product, sizeof(product));
}

GS_CLONES static void
NAME(row)(const REAL *x, REAL *out, npy_intp n)
{
    REAL real[LANES], imaginary[LANES], product[2] = {1, 0};
    npy_intp i = 0;
    int is_lost = 0;
    for (int k = 0; k < LANES; k++) {
        real[k] = 1, imaginary[k] = 0;
    }
    for (; i + LANES <= n; i += LANES) {
        GS_VECTOR for (int k = 0; k < LANES; k++)
        {
            REAL a = x[2 * (i + k)], b = x[2 * (i + k) + 1], c = real[k] * a - imaginary[k] * b;
            imaginary[k] = real[k] * b + imaginary[k] * a;
            real[k] = c;
        }
    }
    for (; i < n; i++) {
        NAME(multiply_number)(product, x + 2 * i);
    }
    for (int k = 0; k < LANES; k++) {
        REAL lane[2] = {real[k], imaginary[k]}, size = LIBM(fabs)(lane[0]) + LIBM(fabs)(lane[1]);
        is_lost |= !(size >= SMALLEST && size < INFINITY);
        NAME(multiply_number)(product, lane);
    }
    REAL size = LIBM(fabs)(product[0]) + LIBM(fabs)(product[1]);
    if (is_lost || !(size >= SMALLEST && size < INFINITY)) {
        NAME(row_in_order)(x, out, n);
        return;
    }
    memcpy(out, product, sizeof(product));
}

GS_CLONES static void
NAME(multiply)(REAL *out, const REAL *x, npy_intp n)
{
    GS_IVDEP
    for (npy_intp j = 0; j < n; j++) {
        NAME(multiply_number)(out + 2 * j, x + 2 * j);
    }
}
