/* Modes of elements of type T; included by modes_kernels.c for each of its types. */

/* A few elements in ascending order, NaN last. */
static void
NAME(order_few)(const T *row, npy_intp n, T *ordered)
{
    for (npy_intp i = 0; i < n; i++) {
        T x = row[i];
        npy_intp at = i;
        for (; at > 0 && ((x < ordered[at - 1]) | ((IS_NAN(x) ^ 1) & IS_NAN(ordered[at - 1]))); at--) {
            ordered[at] = ordered[at - 1];
        }
        ordered[at] = x;
    }
}

/* The place of the first element of the longest run of equal ones; the first run of several. */
static npy_intp
NAME(longest_run)(const T *ordered, npy_intp n, npy_intp *length)
{
    npy_intp found = 0, start = 0;
    *length = 1;
    for (npy_intp i = 1; i < n; i++) {
        start = ordered[i] == ordered[start] ? start : i;
        if (i - start >= *length) {
            *length = i - start + 1;
            found = start;
        }
    }
    return found;
}

static void
NAME(modes)(const gs_modes *m, npy_intp first, npy_intp last)
{
    T few[GS_FEW_ORDERED];
    for (npy_intp r = first; r < last; r++) {
        const T *row = (const T *)m->rows + r * m->n;
        const T *ordered = m->ordered == NULL ? few : (const T *)m->ordered + r * m->n;
        if (m->ordered == NULL) {
            NAME(order_few)(row, m->n, few);
        }
        npy_intp length, place = 0;
        T value = ordered[NAME(longest_run)(ordered, m->n, &length)];
        if (!IS_NAN(value) && !(length == 1 && IS_NAN(row[0]))) {
            for (place = m->n - 1; row[place] != value;) {
                place--;
            }
        }
        ((T *)m->values)[r] = row[place];
        m->places[r] = place;
    }
}
