/* The loops of points_kernels.c for one type: REAL, and NAME(x), which adds its suffix.
 *
 * What is multiplied is added to something in another loop, so that no machine rounds both at once. */

/* From -1 to 1, to numbers of elements. */
GS_INLINE void
NAME(to_elements)(const gs_points *p, const REAL *grid, REAL size, REAL *x, npy_intp n)
{
    REAL factor = p->aligned ? (size - 1) / 2 : size;
    for (npy_intp i = 0; i < n; i++) {
        x[i] = (grid[i * p->coordinates] + 1) * factor;
    }
    if (!p->aligned) {
        for (npy_intp i = 0; i < n; i++) {
            x[i] = (x[i] - 1) / 2;
        }
    }
}

/* Mirror images between the first and last elements, or between their outer edges. */
static void
NAME(reflect)(const gs_points *p, REAL size, REAL *x, npy_intp n)
{
    REAL low = p->aligned ? 0 : (REAL)-0.5, span = p->aligned ? size - 1 : size;
    REAL is_long = span > 0; /* one element has itself for a mirror image */
    span += 1 - is_long;
    for (npy_intp i = 0; i < n; i++) {
        REAL within = LIBM(fmod)(LIBM(fabs)(x[i] - low), 2 * span);
        x[i] = (within <= span ? within : 2 * span - within) * is_long;
    }
    for (npy_intp i = 0; i < n; i++) {
        x[i] += low;
    }
}

GS_INLINE void
NAME(keep_within)(REAL last, REAL *x, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        x[i] = x[i] < 0 ? 0 : x[i] > last ? last : x[i];
    }
}

/* What elements with whole numbers along a coordinate add to a place; outside, as NaN is, so little that it is negative. */
GS_INLINE void
NAME(part_of_place)(const REAL *number, REAL last, npy_int64 step, npy_int64 outside, npy_int64 *part, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        int is_inside = number[i] >= 0 && number[i] <= last;
        npy_int64 place = (npy_int64)(is_inside ? number[i] : 0) * step;
        part[i] = is_inside ? place : outside;
    }
}

/* Two taps along a coordinate: the element before the point, and the one behind it. */
GS_INLINE void
NAME(between)(const REAL *x, REAL *low, REAL *high, REAL *weight_low, REAL *weight_high, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        low[i] = LIBM(floor)(x[i]);
        high[i] = low[i] + 1;
        weight_high[i] = x[i] - low[i];
        weight_low[i] = 1 - weight_high[i];
    }
}

GS_CLONES static void
NAME(find_places)(const gs_points *p, npy_intp image, npy_intp start, npy_intp n)
{
    REAL x[BLOCK], number[2][BLOCK], weights[MOST][2][BLOCK];
    npy_int64 parts[MOST][2][BLOCK], step = 1, outside = -1;
    int taps = p->nearest ? 1 : 2, all = 1;
    for (int d = 0; d < p->coordinates; d++) {
        outside *= p->sizes[d];
        all *= taps;
    }
    for (int d = 0; d < p->coordinates; step *= p->sizes[d], d++) {
        const REAL *grid = (const REAL *)p->grid + (image * p->points + start) * p->coordinates + d;
        REAL size = (REAL)p->sizes[d], last = (REAL)(p->sizes[d] - 1);
        NAME(to_elements)(p, grid, size, x, n);
        if (p->padding == GS_REFLECTION) {
            NAME(reflect)(p, size, x, n);
        }
        if (p->padding != GS_ZEROS) {
            NAME(keep_within)(last, x, n);
        }
        if (p->nearest) {
            for (npy_intp i = 0; i < n; i++) {
                number[0][i] = LIBM(rint)(x[i]);
            }
        } else {
            NAME(between)(x, number[0], number[1], weights[d][0], weights[d][1], n);
        }
        for (int k = 0; k < taps; k++) {
            NAME(part_of_place)(number[k], last, step, outside, parts[d][k], n);
        }
    }
    for (int k = 0; k < all; k++) {
        npy_intp row = (image * all + k) * p->points + start;
        npy_int64 *places = p->places + row;
        const npy_int64 *first = parts[0][k % taps];
        for (npy_intp i = 0; i < n; i++) {
            places[i] = first[i];
        }
        for (int d = 1, rest = k / taps; d < p->coordinates; d++, rest /= taps) {
            const npy_int64 *part = parts[d][rest % taps];
            for (npy_intp i = 0; i < n; i++) {
                places[i] += part[i];
            }
        }
        if (p->nearest) {
            continue;
        }
        REAL *to = (REAL *)p->weights + row;
        for (npy_intp i = 0; i < n; i++) {
            to[i] = weights[0][k % taps][i];
        }
        for (int d = 1, rest = k / taps; d < p->coordinates; d++, rest /= taps) {
            const REAL *factor = weights[d][rest % taps];
            for (npy_intp i = 0; i < n; i++) {
                to[i] *= factor[i];
            }
        }
    }
}
