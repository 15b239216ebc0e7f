/* Running sums of elements of type T, added in type WIDE; included by scans_kernels.c for each of its types. `a` is the
 * first element in the order of the scan, and `step` leads from each to the next. */

GS_INLINE void
NAME(add_one_by_one)(T *a, npy_intp step, npy_intp length, WIDE *sum)
{
    WIDE total = *sum;
    for (npy_intp i = 0; i < length; i++) {
        total += (WIDE)a[i * step];
        a[i * step] = (T)total;
    }
    *sum = total;
}

/* Note [Four running sums at once]; false when nothing was done. */
GS_INLINE int
NAME(add_round)(T *a, npy_intp step, WIDE *sum)
{
    WIDE sums[ROUND], total[CHAINS] = {0}, before = *sum;
    for (npy_intp i = 0; i < BLOCK; i++)
        for (int c = 0; c < CHAINS; c++) {
            total[c] += (WIDE)a[(c * BLOCK + i) * step];
            sums[c * BLOCK + i] = total[c];
        }
    if (!(IS_FINITE(before + total[0] + total[1] + total[2] + total[3])))
        return 0;
    for (int c = 0; c < CHAINS; c++) {
        for (npy_intp i = 0; i < BLOCK; i++)
            a[(c * BLOCK + i) * step] = (T)(before + sums[c * BLOCK + i]);
        before += total[c];
    }
    *sum = before;
    return 1;
}

GS_INLINE void
NAME(add_row)(T *a, npy_intp step, npy_intp length)
{
    WIDE sum = 0;
    npy_intp i = 0;
    for (; i + ROUND <= length; i += ROUND)
        if (!NAME(add_round)(a + i * step, step, &sum))
            NAME(add_one_by_one)(a + i * step, step, ROUND, &sum);
    NAME(add_one_by_one)(a + i * step, step, length - i, &sum);
}

/* `columns`, at most FEW, is a constant, so that the sums stay in registers. */
GS_INLINE void
NAME(add_few_columns)(T *a, npy_intp step, npy_intp length, int columns)
{
    WIDE sums[FEW] = {0};
    for (npy_intp i = 0; i < length; i++, a += step)
        for (int j = 0; j < columns; j++) {
            sums[j] += (WIDE)a[j];
            a[j] = (T)sums[j];
        }
}

GS_INLINE void
NAME(add_columns)(T *a, npy_intp step, npy_intp length, npy_intp columns)
{
    WIDE sums[COLUMNS] = {0};
    for (npy_intp i = 0; i < length; i++, a += step)
        for (npy_intp j = 0; j < columns; j++) {
            sums[j] += (WIDE)a[j];
            a[j] = (T)sums[j];
        }
}

GS_CLONES static void
NAME(sums)(T *a, npy_intp outer, npy_intp length, npy_intp inner, int reverse)
{
    const npy_intp first = reverse ? (length - 1) * inner : 0;
    for (npy_intp o = 0; o < outer; o++, a += length * inner) {
        if (inner == 1 && reverse)
            NAME(add_row)(a + first, -1, length);
        else if (inner == 1)
            NAME(add_row)(a, 1, length);
        else if (inner == 2)
            NAME(add_few_columns)(a + first, reverse ? -2 : 2, length, 2);
        else if (inner == 3)
            NAME(add_few_columns)(a + first, reverse ? -3 : 3, length, 3);
        else if (inner == 4)
            NAME(add_few_columns)(a + first, reverse ? -4 : 4, length, 4);
        else
            for (npy_intp j = 0; j < inner; j += COLUMNS)
                NAME(add_columns)(
                    a + first + j, reverse ? -inner : inner, length, inner - j < COLUMNS ? inner - j : COLUMNS);
    }
}
