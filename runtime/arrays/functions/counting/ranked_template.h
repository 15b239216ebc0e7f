/* Ranks of elements of type T; included by ranked_kernels.c for each of its types. */

/* 1 and then zeros: the least integer. */
#define LEAST ((MASK)((npy_uint64)1 << (8 * sizeof(MASK) - 1)))
#define GREATEST ((MASK)~LEAST)

/* Elements that are handled together: a vector, or two. */
#define LANES (sizeof(MASK) == 1 ? 64 : sizeof(MASK) == 2 ? 32 : 16)

/* An integer in the place of the element: equal ones have one, and NaN has the greatest. */
GS_INLINE MASK
NAME(key_of)(T x)
{
    union {
        T number;
        MASK bits;
    } u = {(T)(x + (T)0)}; /* the zeros are equal */
    if ((T)0.5 == 0)
        return (T)-1 > 0 ? (MASK)(u.bits ^ LEAST) : u.bits;
    MASK key = u.bits < 0 ? u.bits ^ GREATEST : u.bits;
    return IS_NAN(x) ? GREATEST : key;
}

GS_INLINE npy_intp
NAME(count_less)(const MASK *keys, npy_intp n, MASK bound)
{
    npy_intp total = 0;
    while (n > 0) {
        npy_intp some = n < 64 ? n : 64; /* so many that the narrowest type counts them */
        MASK count = 0;
        for (npy_intp i = 0; i < some; i++)
            count += (MASK)(keys[i] < bound);
        total += count;
        keys += some;
        n -= some;
    }
    return total;
}

/* The middle of low and high, which is above low: their distance has no place in the type. */
GS_INLINE MASK
NAME(upper_middle)(MASK low, MASK high)
{
    return (MASK)((low | high) - ((MASK)(low ^ high) >> 1));
}

GS_INLINE void
NAME(find_range)(const MASK *keys, npy_intp n, MASK *low, MASK *high)
{
    MASK least = keys[0], greatest = keys[0];
    for (npy_intp i = 1; i < n; i++) {
        least = keys[i] < least ? keys[i] : least;
        greatest = keys[i] > greatest ? keys[i] : greatest;
    }
    *low = least;
    *high = greatest;
}

/* The greatest number from low to high that no more than `rank` keys are less than. */
GS_INLINE MASK
NAME(halved)(const MASK *keys, npy_intp n, npy_intp rank, MASK low, MASK high)
{
    while (low < high) {
        MASK middle = NAME(upper_middle)(low, high);
        if (NAME(count_less)(keys, n, middle) <= rank)
            low = middle;
        else
            high = (MASK)(middle - 1);
    }
    return low;
}

/* The keys on one side of another, in their order; their number. */
GS_INLINE npy_intp
NAME(keep)(MASK *keys, npy_intp n, MASK bound, int less)
{
    npy_intp kept = 0;
    for (npy_intp i = 0; i < n; i++) {
        MASK key = keys[i];
        keys[kept] = key;
        kept += less ? key < bound : key > bound;
    }
    return kept;
}

/* For each of few elements, how many come before it: of those before it in the row the ones that are not greater, and of
 * those behind it the lesser ones. `lanes` is a constant; up to a multiple of it there are keys, whatever they are. */
GS_INLINE void
NAME(count_before)(const MASK *keys, npy_intp n, int lanes, MASK *before)
{
    for (npy_intp from = 0; from < n; from += lanes) {
        MASK own[LANES], count[LANES] = {0};
        npy_intp i = 0;
        memcpy(own, keys + from, sizeof(MASK) * (size_t)lanes);
        for (; i < from; i++) {
            const MASK key = keys[i];
            GS_VECTOR
            for (int k = 0; k < lanes; k++)
                count[k] += (MASK)(key <= own[k]);
        }
        for (; i < n && i < from + lanes; i++) {
            const MASK key = keys[i], at = (MASK)(i - from);
            GS_VECTOR
            for (int k = 0; k < lanes; k++)
                count[k] += (MASK)((key < own[k]) | ((key == own[k]) & (at < (MASK)k)));
        }
        for (; i < n; i++) {
            const MASK key = keys[i];
            GS_VECTOR
            for (int k = 0; k < lanes; k++)
                count[k] += (MASK)(key < own[k]);
        }
        memcpy(before + from, count, sizeof(MASK) * (size_t)lanes);
    }
}

GS_INLINE void
NAME(ranks_of)(const MASK *keys, npy_intp n, MASK *ranks)
{
    if (n <= 8 && sizeof(MASK) > 1)
        NAME(count_before)(keys, n, 8, ranks);
    else
        NAME(count_before)(keys, n, LANES, ranks);
}

GS_INLINE npy_intp
NAME(place_among_few)(const MASK *keys, npy_intp n, npy_intp rank)
{
    MASK ranks[GS_FEW_TO_ORDER];
    npy_intp place = 0;
    NAME(ranks_of)(keys, n, ranks);
    while (ranks[place] != rank)
        place++;
    return place;
}

/* One of the keys, which should be near that of the rank. */
GS_INLINE MASK
NAME(nearby)(const MASK *keys, npy_intp n, npy_intp rank)
{
    MASK some[LANES > SOME ? LANES : SOME] = {0};
    for (npy_intp i = 0; i < SOME; i++)
        some[i] = keys[(n - 1) * i / (SOME - 1)];
    return some[NAME(place_among_few)(some, SOME, rank * SOME / n)];
}

/* The key of a rank; of the keys less is left. */
GS_INLINE MASK
NAME(ranked)(MASK *keys, npy_intp n, npy_intp rank)
{
    MASK low, high;
    NAME(find_range)(keys, n, &low, &high);
    if ((npy_uint64)high - (npy_uint64)low < NARROW)
        return NAME(halved)(keys, n, rank, low, high);
    for (int splits = 0; n > FEW && splits < MOST_SPLITS; splits++) {
        MASK bound = NAME(nearby)(keys, n, rank);
        npy_intp less = NAME(count_less)(keys, n, bound);
        if (rank < less) {
            n = NAME(keep)(keys, n, bound, 1);
            continue;
        }
        npy_intp up_to = bound == GREATEST ? n : NAME(count_less)(keys, n, (MASK)(bound + 1));
        if (rank < up_to)
            return bound;
        n = NAME(keep)(keys, n, bound, 0);
        rank -= up_to;
    }
    return n <= FEW ? keys[NAME(place_among_few)(keys, n, rank)] : NAME(halved)(keys, n, rank, low, high);
}

/* Of equal keys the one that so many come before. */
GS_INLINE npy_intp
NAME(place_of)(const MASK *keys, MASK key, npy_intp before)
{
    npy_intp i = 0;
    while (keys[i] != key || before-- > 0)
        i++;
    return i;
}

GS_INLINE npy_intp
NAME(place_in_row)(const gs_ranking *r, const T *row, MASK *keys)
{
    npy_intp n = r->n, missing = 0, rank = r->rank;
    for (npy_intp i = 0; i < n; i++)
        keys[i] = NAME(key_of)(row[i]);
    if (r->wanted != GS_RANK) {
        if ((T)0.5 != 0)
            missing = n - NAME(count_less)(keys, n, GREATEST);
        if (missing > 0 && r->wanted == GS_MIDDLE)
            return NAME(place_of)(keys, GREATEST, 0);
        rank = missing == n ? 0 : (n - missing - 1) / 2;
    }
    if (n <= FEW)
        return NAME(place_among_few)(keys, n, rank);
    memcpy(keys + n, keys, sizeof(MASK) * (size_t)n);
    MASK key = NAME(ranked)(keys + n, n, rank);
    return NAME(place_of)(keys, key, rank - NAME(count_less)(keys, n, key));
}

GS_CLONES static void
NAME(rank_rows)(gs_ranking *r, npy_intp first, npy_intp last)
{
    MASK few[2 * SHORT] = {0}, *keys = few;
    if (r->n > SHORT && (keys = malloc(2 * sizeof(MASK) * (size_t)r->n)) == NULL) {
        r->is_out_of_memory = 1;
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        const T *row = (const T *)r->rows + i * r->n;
        npy_intp place = NAME(place_in_row)(r, row, keys);
        ((T *)r->values)[i] = row[place];
        r->places[i] = place;
    }
    if (keys != few)
        free(keys);
}

/* All of the order of rows of at most GS_FEW_TO_ORDER elements. */
GS_CLONES static void
NAME(order_rows)(const gs_short_rows *r, npy_intp first, npy_intp last)
{
    const npy_intp n = r->n;
    const MASK turned = r->descending ? (MASK)~(MASK)0 : 0;
    MASK keys[GS_FEW_TO_ORDER] = {0}, ranks[GS_FEW_TO_ORDER];
    for (npy_intp row = first; row < last; row++) {
        const T *elements = (const T *)r->rows + row * n;
        T *values = (T *)r->values + row * n;
        npy_int64 *places = r->places + row * n;
        for (npy_intp i = 0; i < n; i++)
            keys[i] = (MASK)(NAME(key_of)(elements[i]) ^ turned);
        NAME(ranks_of)(keys, n, ranks);
        for (npy_intp i = 0; i < n; i++) {
            values[ranks[i]] = elements[i];
            places[ranks[i]] = i;
        }
    }
}

#undef LANES
#undef LEAST
#undef GREATEST
