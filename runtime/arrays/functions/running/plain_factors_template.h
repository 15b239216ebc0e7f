/* Running products of numbers of PARTS parts of type T, by MULTIPLY(product, factor), which writes over the factor. */

/* Of `count` rows side by side, since each step of a row waits for the one before. */
GS_INLINE void
NAME(multiply_rows_of)(const npy_intp count, T *rows, npy_intp length)
{
    for (npy_intp i = 1; i < length; i++)
        for (npy_intp r = 0; r < count; r++) {
            T *factor = rows + (r * length + i) * PARTS;
            MULTIPLY(factor - PARTS, factor);
        }
}

GS_CLONES static void
NAME(plain_products)(T *a, npy_intp outer, npy_intp length, npy_intp inner)
{
    npy_intp o = 0;
    for (; inner == 1 && o + ROWS <= outer; o += ROWS)
        NAME(multiply_rows_of)(ROWS, a + o * length * PARTS, length);
    for (; o < outer; o++) {
        T *row = a + o * length * inner * PARTS;
        if (inner == 1)
            NAME(multiply_rows_of)(1, row, length);
        for (npy_intp i = 1; inner > 1 && i < length; i++) {
            T *factors = row + i * inner * PARTS;
            GS_IVDEP
            for (npy_intp j = 0; j < inner * PARTS; j += PARTS)
                MULTIPLY(factors - inner * PARTS + j, factors + j);
        }
    }
}
