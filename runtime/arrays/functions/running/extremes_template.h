/* Running extremes of elements of type T; included by extremes_kernels.c for each of its types. */

GS_INLINE int
NAME(reaches)(T x, T extreme, int largest)
{
    return (largest ? x >= extreme : x <= extreme) | IS_NAN(x);
}

GS_INLINE int
NAME(does_one_reach)(const T *block, T extreme, int largest)
{
    MASK any = 0;
    for (int j = 0; j < BLOCK; j++)
        any |= (MASK)NAME(reaches)(block[j], extreme, largest);
    return any != 0;
}

GS_INLINE void
NAME(along_row)(const T *row, npy_intp length, T *values, npy_int64 *places, int largest)
{
    T extreme = row[0];
    npy_int64 place = 0;
    for (npy_intp i = 0; i < length; i += BLOCK) {
        npy_intp end = length - i < BLOCK ? length : i + BLOCK;
        if (end == i + BLOCK && !NAME(does_one_reach)(row + i, extreme, largest)) {
            for (npy_intp j = i; j < i + BLOCK; j++)
                values[j] = extreme;
            for (npy_intp j = i; j < i + BLOCK; j++)
                places[j] = place;
            continue;
        }
        for (npy_intp j = i; j < end; j++) {
            if (NAME(reaches)(row[j], extreme, largest)) {
                extreme = row[j];
                place = j;
            }
            values[j] = extreme;
            places[j] = place;
        }
    }
}

GS_INLINE void
NAME(along_columns)(
    const T *a, npy_intp length, npy_intp inner, npy_intp columns, T *values, npy_int64 *places, int largest)
{
    for (npy_intp j = 0; j < columns; j++) {
        values[j] = a[j];
        places[j] = 0;
    }
    for (npy_intp i = 1; i < length; i++) {
        a += inner, values += inner, places += inner;
        GS_IVDEP
        for (npy_intp j = 0; j < columns; j++) {
            int is_new = NAME(reaches)(a[j], values[j - inner], largest);
            values[j] = is_new ? a[j] : values[j - inner];
            places[j] = is_new ? i : places[j - inner];
        }
    }
}

GS_INLINE void
NAME(extremes)(const gs_running_extremes *e, npy_intp first, npy_intp last, int largest)
{
    const npy_intp tiles = gs_extreme_tiles(e->inner);
    for (npy_intp t = first; t < last; t++) {
        npy_intp column = t % tiles * COLUMNS, start = t / tiles * e->length * e->inner + column;
        const T *a = (const T *)e->a + start;
        T *values = (T *)e->values + start;
        npy_intp columns = e->inner - column < COLUMNS ? e->inner - column : COLUMNS;
        if (e->inner == 1)
            NAME(along_row)(a, e->length, values, e->places + start, largest);
        else
            NAME(along_columns)(a, e->length, e->inner, columns, values, e->places + start, largest);
    }
}

GS_CLONES static void
NAME(maxima)(const gs_running_extremes *e, npy_intp first, npy_intp last)
{
    NAME(extremes)(e, first, last, 1);
}

GS_CLONES static void
NAME(minima)(const gs_running_extremes *e, npy_intp first, npy_intp last)
{
    NAME(extremes)(e, first, last, 0);
}
