/* Running products, and recurrences with weights, of elements of type T, in type WIDE; see sums_template.h. Each step
 * waits for the one before: a few rows are taken side by side. */

GS_INLINE void
NAME(multiply_rows)(T *a, npy_intp rows, npy_intp length)
{
    WIDE product[ROWS] = {1, 1, 1, 1};
    for (npy_intp i = 0; i < length; i++)
        for (npy_intp r = 0; r < rows; r++) {
            product[r] *= (WIDE)a[r * length + i];
            a[r * length + i] = (T)product[r];
        }
}

GS_INLINE void
NAME(multiply_columns)(T *a, npy_intp step, npy_intp length, npy_intp columns)
{
    WIDE products[COLUMNS];
    for (npy_intp j = 0; j < columns; j++)
        products[j] = 1;
    for (npy_intp i = 0; i < length; i++, a += step)
        for (npy_intp j = 0; j < columns; j++) {
            products[j] *= (WIDE)a[j];
            a[j] = (T)products[j];
        }
}

GS_CLONES static void
NAME(products)(T *a, npy_intp outer, npy_intp length, npy_intp inner)
{
    npy_intp o = 0;
    for (; inner == 1 && o + ROWS <= outer; o += ROWS)
        NAME(multiply_rows)(a + o * length, ROWS, length);
    for (; o < outer; o++) {
        T *row = a + o * length * inner;
        if (inner == 1)
            NAME(multiply_rows)(row, 1, length);
        else
            for (npy_intp j = 0; j < inner; j += COLUMNS)
                NAME(multiply_columns)(row + j, inner, length, inner - j < COLUMNS ? inner - j : COLUMNS);
    }
}

/* `weights` is that of the second element; both go along with `step`. */
GS_INLINE void
NAME(recur_rows)(T *a, const T *weights, npy_intp step, npy_intp rows, npy_intp length)
{
    WIDE value[ROWS];
    for (npy_intp r = 0; r < rows; r++)
        value[r] = (WIDE)a[r * length];
    for (npy_intp i = 1; i < length; i++)
        for (npy_intp r = 0; r < rows; r++) {
            T *element = a + r * length + i * step;
            value[r] = (WIDE)*element + (WIDE)weights[r * length + (i - 1) * step] * value[r];
            *element = (T)value[r];
        }
}

GS_INLINE void
NAME(recur_columns)(T *a, const T *weights, npy_intp step, npy_intp length, npy_intp columns)
{
    WIDE values[COLUMNS];
    for (npy_intp j = 0; j < columns; j++)
        values[j] = (WIDE)a[j];
    for (npy_intp i = 1; i < length; i++, weights += step) {
        a += step;
        for (npy_intp j = 0; j < columns; j++) {
            values[j] = (WIDE)a[j] + (WIDE)weights[j] * values[j];
            a[j] = (T)values[j];
        }
    }
}

GS_CLONES static void
NAME(recurrences)(T *a, const T *weights, npy_intp outer, npy_intp length, npy_intp inner, int reverse)
{
    /* The last weight is the first one used in reverse, else the second. */
    const npy_intp first = reverse ? (length - 1) * inner : 0, used = reverse ? first : inner;
    const npy_intp size = length * inner;
    npy_intp o = 0;
    if (length < 2)
        return;
    for (; inner == 1 && o + ROWS <= outer; o += ROWS) {
        if (reverse)
            NAME(recur_rows)(a + o * size + first, weights + o * size + used, -1, ROWS, length);
        else
            NAME(recur_rows)(a + o * size, weights + o * size + used, 1, ROWS, length);
    }
    for (; o < outer; o++) {
        T *row = a + o * size + first;
        const T *factors = weights + o * size + used;
        if (inner == 1)
            NAME(recur_rows)(row, factors, reverse ? -1 : 1, 1, length);
        else
            for (npy_intp j = 0; j < inner; j += COLUMNS)
                NAME(recur_columns)(
                    row + j, factors + j, reverse ? -inner : inner, length, inner - j < COLUMNS ? inner - j : COLUMNS);
    }
}
