/* Note [Normal numbers by words]
 *
 * NumPy draws normal numbers with a ziggurat of 256 layers (Marsaglia and Tsang, 2000): one word says the layer, the sign
 * and how far the number reaches into the layer.  Where that is less than the layer's limit, which it is in 99 of 100
 * draws, the number is that reach times the layer's scale.  Only this step is done here: without a branch for the sign,
 * which is wrong every second time, and without a call.  What is left goes through NumPy's C function, which is given a
 * generator whose next word is the one that was read already.
 *
 * The scales and limits are not written down once more: they are read off the answers that NumPy's function gives to
 * words of one's choice (gs_words_read_tables).  So the numbers are those of the NumPy that this module was linked with.
 */
#include "words_kernels.h"
#include "runtime/arrays/kernels/support/simd.h"

#include <numpy/random/distributions.h>

#define LAYERS 256
#define CHUNK 256 /* numbers on the way */
#define PLACES 256 /* that are drawn before they are put to use */

/* ---- numbers from 0 to 1 */

void
gs_words_even_float(bitgen_t *source, float *out, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        out[i] = (float)(int32_t)(source->next_uint32(source->state) >> 8) * 0x1p-24f;
    }
}

void
gs_words_even_double(bitgen_t *source, double *out, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        out[i] = source->next_double(source->state);
    }
}

/* ---- integers */

/* Lemire, Fast Random Integer Generation in an Interval, 2019, as NumPy has it. */
GS_INLINE uint32_t
below(bitgen_t *source, uint32_t range)
{
    uint64_t product = (uint64_t)source->next_uint32(source->state) * range;
    if (GS_UNLIKELY((uint32_t)product < range)) {
        uint32_t excess = (uint32_t)(-range) % range;
        while ((uint32_t)product < excess) {
            product = (uint64_t)source->next_uint32(source->state) * range;
        }
    }
    return (uint32_t)(product >> 32);
}

#define INTEGERS(name, element)                                                         \
    void                                                                                \
    name(bitgen_t *source, uint32_t last, element low, element *out, npy_intp n)        \
    {                                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                              \
            uint32_t number = last == 0            ? 0                                  \
                              : last == UINT32_MAX ? source->next_uint32(source->state) \
                                                   : below(source, last + 1);           \
            out[i] = (element)((u##element)low + (u##element)number);                   \
        }                                                                               \
    }

INTEGERS(gs_words_int32, int32_t)
INTEGERS(gs_words_int64, int64_t)

/* Numbers from 0 to last, last - 1, ..., last - count + 1, each of the lower bits of a half that are enough for it; a
 * greater number than it is thrown away.  No more halves are read than are sure to be needed, and whether one is kept
 * steers no branch: every third guess of it would be wrong. */
static void
places_down_from(bitgen_t *source, uint32_t last, uint32_t *out, int count)
{
    uint32_t mask = last;
    for (int shift = 1; shift < 32; shift *= 2) {
        mask |= mask >> shift;
    }
    for (int found = 0; found < count;) {
        for (int missing = count - found; missing > 0; missing--) {
            uint32_t place = source->next_uint32(source->state) & mask;
            uint32_t fits = place <= last;
            out[found] = place;
            found += (int)fits;
            last -= fits;
            mask >>= last <= mask >> 1;
        }
    }
}

void
gs_words_permutation(bitgen_t *source, int64_t *out, npy_intp n)
{
    uint32_t places[PLACES];
    for (npy_intp i = 0; i < n; i++) {
        out[i] = i;
    }
    for (npy_intp i = n - 1; i > 0;) {
        int count = i < PLACES ? (int)i : PLACES;
        places_down_from(source, (uint32_t)i, places, count);
        for (int k = 0; k < count; k++, i--) {
            int64_t last = out[i];
            out[i] = out[places[k]];
            out[places[k]] = last;
        }
    }
}

/* ---- normal numbers */

static struct {
    double scale[LAYERS];
    uint64_t limit[LAYERS];
} doubles;

static struct {
    float scale[LAYERS];
    uint32_t limit[LAYERS];
} floats;

/* A generator that gives one word or half of a word once more, and then what another one gives. */
typedef struct {
    bitgen_t *source;
    uint64_t word;
    int was_given;
} repeated;

static uint64_t
repeated_word(void *state)
{
    repeated *r = state;
    if (r->was_given) {
        return r->source->next_uint64(r->source->state);
    }
    r->was_given = 1;
    return r->word;
}

static uint32_t
repeated_half(void *state)
{
    repeated *r = state;
    if (r->was_given) {
        return r->source->next_uint32(r->source->state);
    }
    r->was_given = 1;
    return (uint32_t)r->word;
}

static double
repeated_even(void *state)
{
    repeated *r = state;
    return r->source->next_double(r->source->state);
}

static bitgen_t
generator_of(repeated *state)
{
    return (bitgen_t){
        .state = state,
        .next_uint64 = repeated_word,
        .next_uint32 = repeated_half,
        .next_double = repeated_even,
        .next_raw = repeated_word,
    };
}

static GS_NOINLINE double
outer_double(bitgen_t *source, uint64_t word)
{
    repeated state = {source, word, 0};
    bitgen_t generator = generator_of(&state);
    return random_standard_normal(&generator);
}

static GS_NOINLINE float
outer_float(bitgen_t *source, uint32_t half)
{
    repeated state = {source, half, 0};
    bitgen_t generator = generator_of(&state);
    return random_standard_normal_f(&generator);
}

void
gs_words_normal_double(bitgen_t *source, double *out, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        uint64_t word = source->next_uint64(source->state), reach = word >> 9 & 0x000fffffffffffff;
        int layer = word & 0xff;
        union {
            double f;
            uint64_t i;
        } x = {.f = (double)(int64_t)reach * doubles.scale[layer]};
        x.i |= (word >> 8 & 1) << 63;
        out[i] = GS_LIKELY(reach < doubles.limit[layer]) ? x.f : outer_double(source, word);
    }
}

void
gs_words_normal_float(bitgen_t *source, float *out, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        uint32_t half = source->next_uint32(source->state), reach = half >> 9;
        int layer = half & 0xff;
        union {
            float f;
            uint32_t i;
        } x = {.f = (float)(int32_t)reach * floats.scale[layer]};
        x.i |= (half >> 8 & 1) << 31;
        out[i] = GS_LIKELY(reach < floats.limit[layer]) ? x.f : outer_float(source, half);
    }
}

/* ---- numbers of other distributions, in double precision and then rounded */

/* Products and sums are in loops of their own: a machine with fused multiply-add would round them once, and NumPy's ufuncs
 * round them twice. */
GS_INLINE void
multiply_and_add(double *x, double factor, double term, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] *= factor;
    }
    for (int i = 0; i < n; i++) {
        x[i] += term;
    }
}

static void
even_between(bitgen_t *source, double start, double range, double *out, int n)
{
    gs_words_even_double(source, out, n);
    multiply_and_add(out, range, start, n);
}

static void
normal_around(bitgen_t *source, double mean, double deviation, double *out, int n)
{
    gs_words_normal_double(source, out, n);
    multiply_and_add(out, deviation, mean, n);
}

static void
exponential(bitgen_t *source, double rate, double unused GS_UNUSED, double *out, int n)
{
    random_standard_exponential_fill(source, n, out);
    for (int i = 0; i < n; i++) {
        out[i] /= rate;
    }
}

static void
cauchy(bitgen_t *source, double median, double width, double *out, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = random_standard_cauchy(source);
    }
    multiply_and_add(out, width, median, n);
}

typedef void (*draw)(bitgen_t *source, double first, double second, double *out, int n);

static void
in_double(draw draw, bitgen_t *source, double first, double second, double *out, npy_intp n)
{
    for (npy_intp i = 0; i < n; i += CHUNK) {
        draw(source, first, second, out + i, n - i < CHUNK ? (int)(n - i) : CHUNK);
    }
}

static void
in_float(draw draw, bitgen_t *source, double first, double second, float *out, npy_intp n)
{
    double chunk[CHUNK];
    for (npy_intp i = 0; i < n; i += CHUNK) {
        int count = n - i < CHUNK ? (int)(n - i) : CHUNK;
        draw(source, first, second, chunk, count);
        for (int k = 0; k < count; k++) {
            out[i + k] = (float)chunk[k];
        }
    }
}

/* NumPy computes in double precision where a number of it takes part. A sum or product of two numbers of single precision
 * is the same when it is rounded out of double precision. */
#define MOVE(name, real)                                                                         \
    void                                                                                         \
    name(real *drawn, const gs_parameter *mean, const gs_parameter *deviation, npy_intp n)       \
    {                                                                                            \
        const real *means = mean->each, *deviations = deviation->each;                           \
        double x[CHUNK];                                                                         \
        for (npy_intp i = 0; i < n; i += CHUNK) {                                                \
            int count = n - i < CHUNK ? (int)(n - i) : CHUNK;                                    \
            for (int k = 0; k < count; k++) {                                                    \
                x[k] = drawn[i + k] * (deviations ? deviations[i + k] : deviation->number);      \
            }                                                                                    \
            for (int k = 0; k < count; k++) {                                                    \
                double moved = deviations ? (real)x[k] : x[k];                                   \
                drawn[i + k] = (real)(moved + (means ? means[i + k] : mean->number));            \
            }                                                                                    \
        }                                                                                        \
    }

MOVE(gs_move_float, float)
MOVE(gs_move_double, double)

/* ---- counts */

static void
even_counts(bitgen_t *source, double unused GS_UNUSED, uint32_t last, int64_t low, int64_t *out, int n)
{
    gs_words_int64(source, last, low, out, n);
}

static void
geometric_counts(bitgen_t *source, double p, uint32_t last GS_UNUSED, int64_t low GS_UNUSED, int64_t *out, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = random_geometric(source, p);
    }
}

typedef void (*count)(bitgen_t *source, double p, uint32_t last, int64_t low, int64_t *out, int n);

#define COUNTS(real)                                                                                 \
    static void                                                                                      \
    counts_##real(count draw, bitgen_t *source, double p, uint32_t last, int64_t low, real *out, npy_intp n) \
    {                                                                                                \
        int64_t chunk[CHUNK];                                                                        \
        for (npy_intp i = 0; i < n; i += CHUNK) {                                                    \
            int few = n - i < CHUNK ? (int)(n - i) : CHUNK;                                          \
            draw(source, p, last, low, chunk, few);                                                  \
            for (int k = 0; k < few; k++) {                                                          \
                out[i + k] = (real)chunk[k];                                                         \
            }                                                                                        \
        }                                                                                            \
    }                                                                                                \
                                                                                                     \
    void                                                                                             \
    gs_words_even_counts_##real(bitgen_t *source, uint32_t last, int64_t low, real *out, npy_intp n) \
    {                                                                                                \
        counts_##real(even_counts, source, 0, last, low, out, n);                                    \
    }

COUNTS(float)
COUNTS(double)

/* ---- of a parameter for each element */

#define OF_EACH(real)                                                             \
    static void                                                                   \
    poisson_##real(bitgen_t *source, const real *rate, real *out, npy_intp n)     \
    {                                                                             \
        for (npy_intp i = 0; i < n; i++) {                                        \
            out[i] = (real)random_poisson(source, rate[i]);                       \
        }                                                                         \
    }                                                                             \
                                                                                  \
    static void                                                                   \
    bernoulli_##real(bitgen_t *source, const real *chance, real *out, npy_intp n) \
    {                                                                             \
        for (npy_intp i = 0; i < n; i++) {                                        \
            out[i] = source->next_double(source->state) < chance[i];              \
        }                                                                         \
    }

OF_EACH(float)
OF_EACH(double)

/* ---- all of them */

#define DISTRIBUTION(real)                                                                                     \
    void                                                                                                       \
    gs_words_distribution_##real(gs_distribution which, bitgen_t *source, double first, double second,         \
                                 const real *each, real *out, npy_intp n)                                      \
    {                                                                                                          \
        switch (which) {                                                                                       \
        case GS_EVEN_BETWEEN: in_##real(even_between, source, first, second, out, n); break;                   \
        case GS_NORMAL_AROUND: in_##real(normal_around, source, first, second, out, n); break;                 \
        case GS_EXPONENTIAL: in_##real(exponential, source, first, second, out, n); break;                     \
        case GS_CAUCHY: in_##real(cauchy, source, first, second, out, n); break;                               \
        case GS_GEOMETRIC: counts_##real(geometric_counts, source, first, 0, 0, out, n); break;                \
        case GS_POISSON: poisson_##real(source, each, out, n); break;                                          \
        case GS_BERNOULLI: bernoulli_##real(source, each, out, n); break;                                      \
        }                                                                                                      \
    }

DISTRIBUTION(float)
DISTRIBUTION(double)

/* ---- the tables */

/* Where the repeated word does not do, a word follows that does, and numbers with which every search ends. */
typedef struct {
    int count;
} answers;

static uint64_t
answered_word(void *state)
{
    ((answers *)state)->count++;
    return 0;
}

static uint32_t
answered_half(void *state)
{
    ((answers *)state)->count++;
    return 0x80000000; /* also what half of one is made of */
}

static double
answered_even(void *state)
{
    ((answers *)state)->count++;
    return 0.5;
}

/* The number of a word or half, and whether it is one alone that decides. */
static double
number_of(int is_double, uint64_t word, int *decides)
{
    answers asked = {0};
    bitgen_t source = {
        .state = &asked,
        .next_uint64 = answered_word,
        .next_uint32 = answered_half,
        .next_double = answered_even,
        .next_raw = answered_word,
    };
    double number = is_double ? outer_double(&source, word) : (double)outer_float(&source, (uint32_t)word);
    *decides = asked.count == 0;
    return number;
}

/* The least reach that is not within the limit of a layer. */
static uint64_t
limit_of(int is_double, int layer)
{
    uint64_t low = 0, high = (uint64_t)1 << (is_double ? 52 : 23);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int decides;
        number_of(is_double, (uint64_t)layer | middle << 9, &decides);
        if (decides) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void
gs_words_read_tables(void)
{
    for (int layer = 0; layer < LAYERS; layer++) {
        uint64_t one = (uint64_t)layer | 1 << 9;
        int decides;
        doubles.limit[layer] = limit_of(1, layer);
        doubles.scale[layer] = number_of(1, one, &decides); /* means nothing where the limit is at most one */
        floats.limit[layer] = (uint32_t)limit_of(0, layer);
        floats.scale[layer] = (float)number_of(0, one, &decides);
    }
}
