/* Selection of elements of type T; included by selection_kernels.c for each of its types. */

/* Does x go before y, which it does not equal?  NaN is the greatest. */
GS_INLINE int
NAME(goes_before)(T x, T y, int largest)
{
    int is_greater = (x > y) | (IS_NAN(x) & (IS_NAN(y) ^ 1)), is_less = (x < y) | ((IS_NAN(x) ^ 1) & IS_NAN(y));
    return largest ? is_greater : is_less;
}

/* Until there are k elements, those that equal the bound are wanted too. */
GS_INLINE int
NAME(is_wanted)(T x, T bound, int is_full, int largest)
{
    return is_full ? NAME(goes_before)(x, bound, largest) : !NAME(goes_before)(bound, x, largest);
}

GS_INLINE int
NAME(is_one_wanted)(const T *block, T bound, int is_full, int largest)
{
    MASK any = 0;
    for (int j = 0; j < BLOCK; j++)
        any |= (MASK)NAME(is_wanted)(block[j], bound, is_full, largest);
    return any != 0;
}

/* Into its place among `count` elements, behind its equals; those behind it move on. */
GS_INLINE void
NAME(insert)(T x, npy_int64 place, T *best, npy_int64 *places, npy_intp count, int largest)
{
    npy_intp at = count;
    for (; at > 0 && NAME(goes_before)(x, best[at - 1], largest); at--) {
        best[at] = best[at - 1];
        places[at] = places[at - 1];
    }
    best[at] = x;
    places[at] = place;
}

/* The best k of n elements, of which so many reach the bound. */
GS_INLINE void
NAME(select)(const T *row, npy_intp n, npy_intp k, T bound, T *best, npy_int64 *places, int largest)
{
    npy_intp found = 0;
    for (npy_intp i = 0; i < n; i += BLOCK) {
        npy_intp count = n - i < BLOCK ? n - i : BLOCK;
        if (count == BLOCK && !(found == k ? NAME(is_one_wanted)(row + i, bound, 1, largest)
                                           : NAME(is_one_wanted)(row + i, bound, 0, largest)))
            continue;
        for (npy_intp j = i; j < i + count; j++) {
            if (!NAME(is_wanted)(row[j], bound, found == k, largest))
                continue;
            NAME(insert)(row[j], j, best, places, found == k ? k - 1 : found, largest);
            found += found < k;
            if (found == k)
                bound = best[k - 1];
        }
    }
}

/* One that all of n elements reach. */
GS_INLINE T
NAME(last_of)(const T *row, npy_intp n, int largest)
{
    T last = row[0];
    for (npy_intp i = 1; i < n; i++)
        last = NAME(goes_before)(last, row[i], largest) ? row[i] : last;
    return last;
}

/* One that k of the elements reach. */
GS_INLINE T
NAME(bound_of)(const T *row, npy_intp n, npy_intp k, int largest)
{
    T lanes[LANES], best[GS_MOST_SELECTED];
    npy_int64 places[GS_MOST_SELECTED];
    for (int j = 0; j < LANES; j++)
        lanes[j] = row[j];
    for (npy_intp i = LANES; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            lanes[j] = NAME(goes_before)(row[i + j], lanes[j], largest) ? row[i + j] : lanes[j];
    NAME(select)(lanes, LANES, k, NAME(last_of)(lanes, LANES, largest), best, places, largest);
    return best[k - 1];
}

GS_INLINE void
NAME(select_rows)(const gs_selection *s, npy_intp first, npy_intp last, int largest)
{
    for (npy_intp r = first; r < last; r++) {
        const T *row = (const T *)s->rows + r * s->n;
        T bound = s->n < LONG ? NAME(last_of)(row, s->k, largest) : NAME(bound_of)(row, s->n, s->k, largest);
        NAME(select)(row, s->n, s->k, bound, (T *)s->values + r * s->k, s->places + r * s->k, largest);
    }
}

GS_CLONES static void
NAME(greatest)(const gs_selection *s, npy_intp first, npy_intp last)
{
    NAME(select_rows)(s, first, last, 1);
}

GS_CLONES static void
NAME(least)(const gs_selection *s, npy_intp first, npy_intp last)
{
    NAME(select_rows)(s, first, last, 0);
}
