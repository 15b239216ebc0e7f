/* Note [Streams]
 *
 * A large array is cut into pieces of GS_STREAM elements, and each piece has a stream of random bits of its own: so the
 * numbers are the same whatever the number of threads.  The key of all streams, two words, is what the user's generator
 * gives; the number of the stream is the third word of their seeds.
 *
 * A stream is made of LANES generators SFC64 (Doty-Humphrey, PractRand; also one of NumPy's), whose words take turns.
 * They are seeded as their author says: three words a, b, c, a counter of one, and 18 words thrown away; c is the
 * number of the lane among all lanes of all streams.  One more generator, whose c counts down from 2^64 - 1, serves the few
 * elements for which the bits of the lanes do not suffice.
 */
#include "bits_kernels.h"
#include "runtime/arrays/kernels/support/simd.h"

#include <string.h>

#define LANES 8
#define TILE 512 /* words that are made at a time: they stay in the first cache */
#define WARM_UP 18

typedef struct {
    uint64_t a[LANES], b[LANES], c[LANES], count;
} lanes;

typedef struct {
    uint64_t a, b, c, count;
} generator;

static uint64_t
next_word(generator *g)
{
    uint64_t word = g->a + g->b + g->count++;
    g->a = g->b ^ (g->b >> 11);
    g->b = g->c + (g->c << 3);
    g->c = ((g->c << 24) | (g->c >> 40)) + word;
    return word;
}

static generator
spare_generator(const gs_stream *s)
{
    generator g = {s->key[0], s->key[1], ~s->stream, 1};
    for (int i = 0; i < WARM_UP; i++) {
        next_word(&g);
    }
    return g;
}

/* One word of each lane. */
GS_INLINE void
step(lanes *l, uint64_t *words)
{
    for (int i = 0; i < LANES; i++) {
        uint64_t a = l->a[i], b = l->b[i], c = l->c[i];
        uint64_t word = a + b + l->count;
        l->a[i] = b ^ (b >> 11);
        l->b[i] = c + (c << 3);
        l->c[i] = ((c << 24) | (c >> 40)) + word;
        words[i] = word;
    }
    l->count++;
}

/* The bits of a tile.  They are read in other pieces than they were written, so always as members of the union. */
typedef union {
    uint64_t words[TILE];
    uint32_t halves[2 * TILE];
    uint16_t quarters[4 * TILE];
} tile;

/* So many words at least; zeros follow them. */
GS_CLONES static void
fill_tile(lanes *l, tile *bits, npy_intp words)
{
    lanes now = *l;
    npy_intp i = 0;
    for (; i < words; i += LANES) {
        step(&now, bits->words + i);
    }
    memset(bits->words + i, 0, sizeof(uint64_t) * (size_t)(TILE - i));
    *l = now;
}

static void
start(lanes *l, const gs_stream *s)
{
    uint64_t unused[LANES];
    for (int i = 0; i < LANES; i++) {
        l->a[i] = s->key[0];
        l->b[i] = s->key[1];
        l->c[i] = s->stream * LANES + (uint64_t)i;
    }
    l->count = 1;
    for (int i = 0; i < WARM_UP; i++) {
        step(l, unused);
    }
}

/* What is written is written tile by tile; the last one by way of a buffer. */
#define FOR_TILES(element, per_word)                                                         \
    tile bits;                                                                               \
    element buffer[TILE * (per_word)];                                                       \
    lanes l;                                                                                 \
    start(&l, s);                                                                            \
    for (npy_intp first = 0, size = TILE * (per_word); first < n; first += size)

/* Of the last tile: where an element is made of the bits at its own place, no more words are needed than lie before them.
 * The elements behind are computed, too, and forgotten. */
#define NEEDED (n - first < size ? ((n - first) * TILE + size - 1) / size : TILE)

#define NEXT_TILE(target, words)                   \
    fill_tile(&l, &bits, words);                   \
    target = n - first < size ? buffer : out + first

#define END_TILE(target)                                                       \
    if (target == buffer) {                                                    \
        memcpy(out + first, buffer, (size_t)(n - first) * sizeof(*buffer));    \
    }

/* ---- ones with a probability */

/* Sixteen bits decide, but for the one number of them that is the threshold's beginning. */
GS_CLONES static int
compare(const tile *bits, uint16_t threshold, uint8_t *out)
{
    uint16_t undecided = 0;
    for (int i = 0; i < 4 * TILE; i++) {
        out[i] = bits->quarters[i] < threshold;
        undecided |= bits->quarters[i] == threshold;
    }
    return undecided;
}

void
gs_fill_kept(const gs_stream *s, uint64_t threshold, uint8_t *out, npy_intp n)
{
    uint16_t beginning = (uint16_t)(threshold >> 48);
    generator spare = spare_generator(s);
    FOR_TILES(uint8_t, 4) {
        uint8_t *to;
        NEXT_TILE(to, NEEDED);
        if (compare(&bits, beginning, to)) {
            for (int i = 0; i < 4 * TILE; i++) {
                if (bits.quarters[i] == beginning) {
                    to[i] = next_word(&spare) >> 16 < (threshold & 0xffffffffffff);
                }
            }
        }
        END_TILE(to)
    }
}

/* ---- numbers from 0 to 1 */

GS_CLONES static void
even_floats(const tile *bits, float *out)
{
    for (int i = 0; i < 2 * TILE; i++) {
        out[i] = (float)(int32_t)(bits->halves[i] >> 8) * 0x1p-24f;
    }
}

void
gs_fill_even_float(const gs_stream *s, float *out, npy_intp n)
{
    FOR_TILES(float, 2) {
        float *to;
        NEXT_TILE(to, NEEDED);
        even_floats(&bits, to);
        END_TILE(to)
    }
}

/* Fifty-two bits become those of a number from 1 to 2, and the last one is added: a conversion of large integers is
 * slow without AVX-512. */
GS_CLONES static void
even_doubles(const tile *bits, double *out)
{
    for (int i = 0; i < TILE; i++) {
        union {
            uint64_t i;
            double f;
        } from_one = {.i = bits->words[i] >> 12 | 0x3ff0000000000000};
        union {
            uint64_t i;
            double f;
        } half = {.i = (bits->words[i] >> 11 & 1) * 0x3ca0000000000000};
        out[i] = (from_one.f - 1) + half.f;
    }
}

void
gs_fill_even_double(const gs_stream *s, double *out, npy_intp n)
{
    FOR_TILES(double, 1) {
        double *to;
        NEXT_TILE(to, NEEDED);
        even_doubles(&bits, to);
        END_TILE(to)
    }
}

/* ---- normal numbers */

/* Box and Muller, 1958: a radius sqrt(-2 log u) and an even angle give two numbers.  u = (k + 1/2) / 2^31 is never zero,
 * and reaches as far as 6.66 standard deviations.  Polynomials of small remainders, fitted at Chebyshev's points: log(1 +
 * x) to x^11 between sqrt(1/2) and sqrt(2), sine and cosine up to an eighth of a turn; errors are those of rounding. */
GS_INLINE float
radius(uint32_t bits)
{
    union {
        float f;
        int32_t i;
    } u = {.f = (float)(int32_t)(bits >> 1) + 0.5f};
    int32_t exponent = (u.i - 0x3f3504f3) >> 23; /* of the power of two for which the rest is from sqrt(1/2) to sqrt(2) */
    u.i -= exponent * (1 << 23);
    float x = u.f - 1, square = x * x;
    float rest = 6.9716126e-02f;
    rest = rest * x - 1.1479734e-01f;
    rest = rest * x + 1.1685420e-01f;
    rest = rest * x - 1.2425694e-01f;
    rest = rest * x + 1.4249058e-01f;
    rest = rest * x - 1.6667802e-01f;
    rest = rest * x + 2.0000716e-01f;
    rest = rest * x - 2.4999997e-01f;
    rest = rest * x + 3.3333331e-01f;
    float logarithm = x - (0.5f * square - rest * square * x) + (float)(exponent - 31) * 0.69314718f;
    return sqrtf(logarithm < 0 ? -2 * logarithm : 0);
}

GS_CLONES static void
normal_floats(const tile *bits, float *out)
{
    for (int i = 0; i < TILE; i++) {
        uint32_t turn = bits->halves[TILE + i], quarter = turn >> 30;
        float angle = (float)(int32_t)(turn << 2) * 3.6572995e-10f; /* pi / 2^33 */
        float square = angle * angle;
        float sine = angle + angle * square * (-1.6666667e-01f + square * (8.3333319e-03f +
                     square * (-1.9840087e-04f + square * 2.7249925e-06f)));
        float cosine = 1 - square * (0.5f - square * (4.1666665e-02f + square * (-1.3888303e-03f + square * 2.4547942e-05f)));
        float r = radius(bits->halves[i]);
        union {
            float f;
            uint32_t i;
        } one = {.f = r * (quarter & 1 ? sine : cosine)}, other = {.f = r * (quarter & 1 ? cosine : sine)};
        one.i ^= ((quarter + 1) & 2) << 30;
        other.i ^= (quarter & 2) << 30;
        out[i] = one.f;
        out[TILE + i] = other.f;
    }
}

void
gs_fill_normal_float(const gs_stream *s, float *out, npy_intp n)
{
    FOR_TILES(float, 2) {
        float *to;
        NEXT_TILE(to, TILE); /* two numbers are made of the same two halves, which lie apart */
        normal_floats(&bits, to);
        END_TILE(to)
    }
}

/* ---- integers */

/* Lemire, Fast Random Integer Generation in an Interval, 2019: the upper half of a product with the range is even but
 * where the lower half is less than 2^32 modulo the range; there another number is drawn. */
#define INTEGERS(name, loop, element)                                                             \
    GS_CLONES static int                                                                          \
    loop(const tile *bits, uint32_t range,     uint32_t excess, element low, element *out)        \
    {                                                                                             \
        int refused = 0;                                                                          \
        for (int i = 0; i < 2 * TILE; i++) {                                                      \
            uint64_t product = (uint64_t)bits->halves[i] * range;                                 \
            refused |= (uint32_t)product < excess;                                                \
            out[i] = (element)((u##element)low + (u##element)(product >> 32));                    \
        }                                                                                         \
        return refused;                                                                           \
    }                                                                                             \
                                                                                                  \
    void                                                                                          \
    name(const gs_stream *s, uint64_t wide_range, element low, element *out, npy_intp n)          \
    {                                                                                             \
        uint32_t range = (uint32_t)wide_range, excess = range ? (uint32_t)(-range) % range : 0;   \
        generator spare = spare_generator(s);                                                     \
        FOR_TILES(element, 2) {                                                                   \
            element *to;                                                                          \
            NEXT_TILE(to, NEEDED);                                                                    \
            if (range == 0) { /* 2^32 */                                                          \
                for (int i = 0; i < 2 * TILE; i++) {                                              \
                    to[i] = (element)((u##element)low + (u##element)bits.halves[i]);              \
                }                                                                                 \
            } else if (loop(&bits, range, excess, low, to)) {                                     \
                for (int i = 0; i < 2 * TILE; i++) {                                              \
                    uint64_t product = (uint64_t)bits.halves[i] * range;                          \
                    while ((uint32_t)product < excess) {                                          \
                        product = (next_word(&spare) >> 32) * range;                              \
                    }                                                                             \
                    to[i] = (element)((u##element)low + (u##element)(product >> 32));             \
                }                                                                                 \
            }                                                                                     \
            END_TILE(to)                                                                          \
        }                                                                                         \
    }

INTEGERS(gs_fill_int32, int32_loop, int32_t)
INTEGERS(gs_fill_int64, int64_loop, int64_t)

/* ---- what remains of an array */

#define KEEP(name, real)                                                                                  \
    GS_CLONES void                                                                                        \
    name(const gs_kept_numbers *k, const real *x, const uint8_t *kept, real *out, npy_intp n)             \
    {                                                                                                     \
        real scale = (real)k->scale, above = (real)k->above, below = (real)k->below;                      \
        if (above == 0 && below == 0) {                                                                   \
            GS_IVDEP                                                                                      \
            for (npy_intp i = 0; i < n; i++) {                                                            \
                out[i] = x[i] * (kept[i] ? scale : 0);                                                    \
            }                                                                                             \
            return;                                                                                       \
        }                                                                                                 \
        GS_IVDEP                                                                                          \
        for (npy_intp i = 0; i < n; i++) {                                                                \
            real factor = kept[i] ? scale : 0, term = kept[i] ? above : below;                            \
            out[i] = x[i] * factor + term;                                                                \
        }                                                                                                 \
    }

KEEP(gs_keep_float, float)
KEEP(gs_keep_double, double)
