/* Searches for elements of type T; included by searches_kernels.c for each of its types. */

/* Is the place of x behind that of an element, which is no NaN?  NaN is behind all of these. */
GS_INLINE int
NAME(is_behind)(T x, T element, int after)
{
    return after ? !(element > x) : !(element >= x);
}

/* How many elements of a row are no NaN. */
GS_INLINE npy_intp
NAME(count_of_numbers)(const T *row, npy_intp n)
{
    npy_intp low = 0;
    if (n == 0 || !IS_NAN(row[n - 1]))
        return n;
    while (low < n) {
        npy_intp middle = low + (n - low) / 2;
        if (IS_NAN(row[middle]))
            n = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Of a row without NaN. Of `size` elements from `at` on, the place is before or behind one. */
GS_INLINE void
NAME(search_group)(const T *row, npy_intp n, const T *wanted, int count, npy_intp *at, int after)
{
    npy_intp size = n;
    for (int j = 0; j < count; j++)
        at[j] = 0;
    for (; size > 1; size -= size / 2)
        for (int j = 0; j < count; j++)
            at[j] += NAME(is_behind)(wanted[j], row[at[j] + size / 2 - 1], after) ? size / 2 : 0;
    for (int j = 0; size > 0 && j < count; j++)
        at[j] += NAME(is_behind)(wanted[j], row[at[j]], after);
}

GS_INLINE void
NAME(store)(const gs_search *s, npy_intp first, int count, const npy_intp *at)
{
    for (int j = 0; j < count; j++) {
        if (s->is_int32)
            ((npy_int32 *)s->found)[first + j] = (npy_int32)at[j];
        else
            ((npy_int64 *)s->found)[first + j] = at[j];
    }
}

/* The elements first <= i < last, all of which belong to one row. */
GS_INLINE void
NAME(search_row)(const gs_search *s, const T *row, npy_intp first, npy_intp last, int after)
{
    const T *wanted = (const T *)s->wanted;
    npy_intp n = NAME(count_of_numbers)(row, s->n), at[GROUP];
    for (npy_intp i = first; i < last; i += GROUP) {
        int count = last - i < GROUP ? (int)(last - i) : GROUP;
        if (count == GROUP)
            NAME(search_group)(row, n, wanted + i, GROUP, at, after);
        else
            NAME(search_group)(row, n, wanted + i, count, at, after);
        for (int j = 0; after && n < s->n && j < count; j++)
            at[j] = IS_NAN(wanted[i + j]) ? s->n : at[j];
        NAME(store)(s, i, count, at);
    }
}

GS_INLINE void
NAME(search)(const gs_search *s, npy_intp first, npy_intp last, int after)
{
    while (first < last) {
        npy_intp r = first / s->per_row, end = (r + 1) * s->per_row;
        NAME(search_row)(s, (const T *)s->rows + r * s->n, first, end < last ? end : last, after);
        first = end;
    }
}

GS_CLONES static void
NAME(search_before)(const gs_search *s, npy_intp first, npy_intp last)
{
    NAME(search)(s, first, last, 0);
}

GS_CLONES static void
NAME(search_after)(const gs_search *s, npy_intp first, npy_intp last)
{
    NAME(search)(s, first, last, 1);
}
