/* The sort of one size of elements: KEY is its unsigned type, of N_DIGITS digits; SIGN and INFINITE are bits of a float. */

typedef struct {
    KEY key;
    uint32_t place;
} NAME(pair);

static inline KEY
NAME(key)(KEY bits, gs_number_kind kind)
{
    if (kind == GS_UNSIGNED) {
        return bits;
    }
    if (kind == GS_SIGNED) {
        return bits ^ SIGN;
    }
    if ((bits & ~SIGN) > INFINITE) {
        return ~(KEY)0; /* NaN, whatever its sign */
    }
    if (bits == SIGN) {
        return SIGN; /* -0, as 0 */
    }
    return bits & SIGN ? ~bits : bits | SIGN;
}

/* Pairs of a row, and how many keys have each value of each digit.  Keys are counted from the least of them, so that those
 * of numbers that lie close together have few digits. */
static void
NAME(prepare)(const KEY *row, npy_intp n, gs_number_kind kind, NAME(pair) *pairs, npy_intp (*counts)[N_BUCKETS])
{
    KEY least = NAME(key)(row[0], kind);
    for (npy_intp i = 1; i < n; i++) {
        KEY key = NAME(key)(row[i], kind);
        least = key < least ? key : least;
    }
    memset(counts, 0, N_DIGITS * sizeof *counts);
    for (npy_intp i = 0; i < n; i++) {
        KEY key = NAME(key)(row[i], kind) - least;
        pairs[i].key = key;
        pairs[i].place = (uint32_t)i;
        for (int d = 0; d < N_DIGITS; d++) {
            counts[d][DIGIT(key, d)]++;
        }
    }
}

/* Counts become the place at which each bucket starts. */
static void
NAME(deal)(const NAME(pair) *pairs, npy_intp n, int d, npy_intp *counts, NAME(pair) *dealt)
{
    npy_intp start = 0;
    for (int bucket = 0; bucket < N_BUCKETS; bucket++) {
        npy_intp count = counts[bucket];
        counts[bucket] = start;
        start += count;
    }
    for (npy_intp i = 0; i < n; i++) {
        dealt[counts[DIGIT(pairs[i].key, d)]++] = pairs[i];
    }
}

static int
NAME(order)(const KEY *rows, npy_intp n_rows, npy_intp n, gs_number_kind kind, npy_int64 *places)
{
    NAME(pair) *memory = malloc(2 * (size_t)n * sizeof *memory);
    npy_intp(*counts)[N_BUCKETS] = malloc(N_DIGITS * sizeof *counts);
    if (memory == NULL || counts == NULL) {
        free(memory);
        free(counts);
        return -1;
    }
    for (npy_intp r = 0; r < n_rows; r++, rows += n, places += n) {
        NAME(pair) *pairs = memory, *dealt = memory + n;
        NAME(prepare)(rows, n, kind, pairs, counts);
        for (int d = 0; d < N_DIGITS; d++) {
            if (counts[d][DIGIT(pairs[0].key, d)] == n) {
                continue; /* all keys have this digit */
            }
            NAME(deal)(pairs, n, d, counts[d], dealt);
            NAME(pair) *before = pairs;
            pairs = dealt;
            dealt = before;
        }
        for (npy_intp i = 0; i < n; i++) {
            places[i] = pairs[i].place;
        }
    }
    free(memory);
    free(counts);
    return 0;
}

#undef KEY
#undef N_DIGITS
#undef SIGN
#undef INFINITE
#undef NAME
