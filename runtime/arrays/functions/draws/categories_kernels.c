/* Note [Places of levels]
 *
 * A level is the share of the sum of weights that it reaches, and the place that is drawn is the number of sums up to some
 * weight that are not above it.  Rounding may bring a level to the sum of all: only the sums before the last positive
 * weight count, so that the place is never one without a weight.
 *
 * Few sums are compared one by one with many levels side by side, many are halved until one is left.
 */
#include "categories_kernels.h"
#include "support/simd.h"

#include <string.h>

#define FEW 48    /* sums that are compared one by one */
#define BLOCK 256 /* levels, or columns, side by side */

/* The sums of a row; -1 when its weights are wrong, else the last place with a positive one, n if there is none. */
#define SUM_WEIGHTS(name, real)                              \
    static int64_t name(const real *weights, int64_t n, double *sums) \
    {                                                        \
        int64_t last = n;                                    \
        double sum = 0;                                      \
        for (int64_t i = 0; i < n; i++) {                    \
            double weight = (double)weights[i];              \
            if (!(weight >= 0 && weight <= 1.7976931348623157e308)) { \
                return -1;                                   \
            }                                                \
            sum += weight;                                   \
            sums[i] = sum;                                   \
            last = weight > 0 ? i : last;                    \
        }                                                    \
        return last;                                         \
    }

SUM_WEIGHTS(sum_floats, float)
SUM_WEIGHTS(sum_doubles, double)

GS_CLONES static void
scale(double *levels, int64_t count, double by)
{
    GS_IVDEP
    for (int64_t k = 0; k < count; k++) {
        levels[k] *= by;
    }
}

GS_CLONES static void
compare_all(const double *sums, int64_t n, const double *levels, int64_t count, int64_t *places)
{
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t here = count - first < BLOCK ? count - first : BLOCK, found[BLOCK] = {0};
        for (int64_t i = 0; i < n; i++) {
            double sum = sums[i];
            for (int64_t k = 0; k < here; k++) {
                found[k] += sum <= levels[first + k];
            }
        }
        memcpy(places + first, found, sizeof(int64_t) * (size_t)here);
    }
}

/* Halving without a branch that depends on the level. */
static int64_t
sums_up_to(const double *sums, int64_t n, double level)
{
    const double *from = sums;
    while (n > 1) {
        int64_t half = n / 2;
        from += from[half - 1] <= level ? half : 0;
        n -= half;
    }
    return from - sums + (n == 1 && *from <= level);
}

gs_weights_state
gs_categories(int is_float, const void *weights, int64_t rows, int64_t n, double *sums, double *levels, int64_t count,
              int64_t *places)
{
    for (int64_t row = 0; row < rows; row++, levels += count, places += count) {
        int64_t last = is_float ? sum_floats((const float *)weights + row * n, n, sums)
                                : sum_doubles((const double *)weights + row * n, n, sums);
        if (last < 0 || last == n) {
            return last < 0 ? GS_WEIGHTS_INVALID : GS_WEIGHTS_ZERO;
        }
        scale(levels, count, sums[n - 1]);
        if (last <= FEW) {
            compare_all(sums, last, levels, count, places);
            continue;
        }
        for (int64_t k = 0; k < count; k++) {
            places[k] = sums_up_to(sums, last, levels[k]);
        }
    }
    return GS_WEIGHTS_RIGHT;
}

/* ---- bags */

/* Columns side by side; rows are counted in integers as wide as elements, from the first of the bag.  (The caller sees to
 * it that 32 bits are enough.) */
#define FIND_GREATEST(name, real, integer)                                                                  \
    GS_CLONES static void name(const real *x, int64_t n, int64_t row, int64_t width, int64_t *places, int64_t step) \
    {                                                                                                       \
        real best[BLOCK];                                                                                   \
        integer place[BLOCK] = {0};                                                                         \
        memcpy(best, x, sizeof(real) * (size_t)width);                                                      \
        for (int64_t i = 1; i < n; i++) {                                                                   \
            const real *other = x + i * step;                                                               \
            GS_IVDEP                                                                                        \
            for (int64_t k = 0; k < width; k++) {                                                           \
                int is_better = ((other[k] > best[k]) | (other[k] != other[k])) & (best[k] == best[k]);     \
                best[k] = is_better ? other[k] : best[k];                                                   \
                place[k] = is_better ? (integer)i : place[k];                                               \
            }                                                                                               \
        }                                                                                                   \
        for (int64_t k = 0; k < width; k++) {                                                               \
            places[k] = row + place[k];                                                                     \
        }                                                                                                   \
    }

FIND_GREATEST(find_among_floats, float, int32_t)
FIND_GREATEST(find_among_doubles, double, int64_t)

void
gs_first_greatest(int is_float, const void *rows, const int64_t *ends, int64_t bags, int64_t width, int64_t *places)
{
    int64_t row = 0;
    for (int64_t bag = 0; bag < bags; row = ends[bag], bag++) {
        int64_t n = ends[bag] - row, *to = places + bag * width;
        for (int64_t first = 0; first < width; first += BLOCK) {
            int64_t here = width - first < BLOCK ? width - first : BLOCK;
            if (n == 0) {
                memset(to + first, 0xff, sizeof(int64_t) * (size_t)here);
            } else if (is_float) {
                find_among_floats((const float *)rows + row * width + first, n, row, here, to + first, width);
            } else {
                find_among_doubles((const double *)rows + row * width + first, n, row, here, to + first, width);
            }
        }
    }
}
