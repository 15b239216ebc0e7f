/* Running products, and recurrences with weights, of elements of type T, in type WIDE; see sums_template.h. Each step
 * waits for the one before: a few rows are taken side by side.
 */

/* Times one more factor; see Note [Products below the range of doubles]. */
GS_INLINE T
NAME(multiplied)(WIDE *product, npy_intp *lifts, T factor)
{
    WIDE value = *product * (WIDE)factor;
    if (IS_LOW(value)) {
        value *= 1 / LOW;
        *lifts += 1;
    } else if (*lifts > 0 && fabs(value) >= 1) {
        value *= LOW;
        *lifts -= 1;
    }
    *product = value;
    return (T)(*lifts > 0 ? value * LOW : value);
}

GS_INLINE void
NAME(multiply_step)(T *a, npy_intp count, npy_intp apart, WIDE *products)
{
    for (npy_intp c = 0; c < count; c++) {
        products[c] *= (WIDE)a[c * apart];
        a[c * apart] = (T)products[c];
    }
}

GS_INLINE int
NAME(is_any_low)(const WIDE *products, npy_intp count)
{
    int found = 0;
    for (npy_intp c = 0; c < count; c++)
        found |= IS_LOW(products[c]);
    return found;
}

/* Products of `count` chains, whose elements are `apart` numbers apart, and `step` numbers from one factor to the next.
 * They are multiplied as they are until one is low; between two looks at them none leaves the range of doubles. */
GS_INLINE void
NAME(multiply_chains)(T *a, npy_intp count, npy_intp apart, npy_intp length, npy_intp step)
{
    WIDE products[COLUMNS];
    npy_intp lifts[COLUMNS] = {0}, i = 0;
    for (npy_intp c = 0; c < count; c++)
        products[c] = 1;
    for (; i + UNWATCHED <= length && !NAME(is_any_low)(products, count); i += UNWATCHED)
        for (npy_intp s = 0; s < UNWATCHED; s++)
            NAME(multiply_step)(a + (i + s) * step, count, apart, products);
    for (; i < length; i++)
        for (npy_intp c = 0; c < count; c++) {
            T *element = a + i * step + c * apart;
            *element = NAME(multiplied)(&products[c], &lifts[c], *element);
        }
}

GS_CLONES static void
NAME(products)(T *a, npy_intp outer, npy_intp length, npy_intp inner)
{
    npy_intp o = 0;
    for (; inner == 1 && o + ROWS <= outer; o += ROWS)
        NAME(multiply_chains)(a + o * length, ROWS, length, length, 1);
    for (; o < outer; o++) {
        T *row = a + o * length * inner;
        if (inner == 1)
            NAME(multiply_chains)(row, 1, 1, length, 1);
        else
            for (npy_intp j = 0; j < inner; j += COLUMNS)
                NAME(multiply_chains)(row + j, inner - j < COLUMNS ? inner - j : COLUMNS, 1, length, inner);
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
