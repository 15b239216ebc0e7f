/* Note [Reflections]
 *
 * Orthogonal factors are products of reflections H = I - factor * v v^T, and LAPACK's signs are kept.  Applied one by one
 * they would read a matrix once for each; a block of them is I - V^T T V, with the vectors as rows of V and a triangle T,
 * and its application are three products:  x -= ((x V^T) T') V.
 *
 * Matrices lie so that what is reflected is a row.  Sums over rows take four of them at a time, so that what they are
 * added to is read a quarter as often.
 */
#include "factors/reflections.h"
#include "support/simd.h"

#include <float.h>
#include <string.h>

#define TOGETHER 48 /* reflections of a block */
#define AT_ONCE 16  /* rows that are multiplied by one reflection */
#define FEW 8       /* up to which a block does not pay */
#define LANES GS_LINE /* numbers of a vector: one of AVX-512, or two of AVX2 */
#define SAFE_LEAST 1e-280
#define SAFE_MOST 1e280

typedef double vector __attribute__((vector_size(64)));
typedef double unaligned __attribute__((vector_size(64), aligned(8)));

GS_INLINE vector
load(const double *x)
{
    return *(const unaligned *)x;
}

GS_INLINE double
total(vector x)
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* ---- sums over rows */

GS_INLINE void
dots_of(const int rows, double *found, const double *row, npy_intp step, const double *x, npy_intp n)
{
    vector sums[4] = {{0}};
    npy_intp j = 0;
    for (; j + LANES <= n; j += LANES) {
        vector factor = load(x + j);
        for (int r = 0; r < rows; r++) {
            sums[r] += factor * load(row + r * step + j);
        }
    }
    for (int r = 0; r < rows; r++) {
        found[r] = total(sums[r]);
        for (npy_intp rest = j; rest < n; rest++) {
            found[r] += x[rest] * row[r * step + rest];
        }
    }
}

GS_CLONES void
gs_dots(double *found, const double *rows, npy_intp count, npy_intp step, const double *x, npy_intp n)
{
    npy_intp r = 0;
    for (; r + 4 <= count; r += 4) {
        dots_of(4, found + r, rows + r * step, step, x, n);
    }
    for (; r < count; r++) {
        dots_of(1, found + r, rows + r * step, step, x, n);
    }
}

GS_INLINE void
subtract_some(const int count, double *y, const double *factors, const double *row, npy_intp step, npy_intp n)
{
    npy_intp j = 0;
    for (; j + LANES <= n; j += LANES) {
        vector sum = load(y + j);
        for (int r = 0; r < count; r++) {
            sum -= factors[r] * load(row + r * step + j);
        }
        *(unaligned *)(y + j) = sum;
    }
    for (; j < n; j++) {
        for (int r = 0; r < count; r++) {
            y[j] -= factors[r] * row[r * step + j];
        }
    }
}

GS_CLONES void
gs_subtract_rows(double *y, const double *factors, const double *rows, npy_intp count, npy_intp step, npy_intp n)
{
    npy_intp r = 0;
    for (; r + 4 <= count; r += 4) {
        subtract_some(4, y, factors + r, rows + r * step, step, n);
    }
    for (; r < count; r++) {
        subtract_some(1, y, factors + r, rows + r * step, step, n);
    }
}

/* ---- one reflection */

/* Without the overflow or underflow of squares. */
static double
norm_of(const double *x, npy_intp n)
{
    double square, greatest = 0, sum = 0;
    gs_dots(&square, x, 1, 0, x, n);
    if (square >= SAFE_LEAST && square <= SAFE_MOST) {
        return sqrt(square);
    }
    for (npy_intp i = 0; i < n; i++) {
        greatest = fmax(greatest, fabs(x[i]));
    }
    if (greatest == 0 || !isfinite(greatest)) {
        return sqrt(square);
    }
    for (npy_intp i = 0; i < n; i++) {
        sum += x[i] / greatest * (x[i] / greatest);
    }
    return greatest * sqrt(sum);
}

GS_CLONES static void
divide(double *x, double divisor, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        x[i] /= divisor;
    }
}

/* Where C's own is infinite for an infinity beside a NaN, this is NaN. */
static double
hypotenuse(double one, double other)
{
    return isnan(one) || isnan(other) ? NAN : hypot(one, other);
}

double
gs_reflect(double *x, npy_intp n, double *factor)
{
    double first = x[0], rest = norm_of(x + 1, n - 1);
    x[0] = 1;
    *factor = 0;
    if (rest == 0) {
        return first;
    }
    double multiple = -copysign(hypotenuse(first, rest), first), difference = first - multiple;
    *factor = -difference / multiple;
    divide(x + 1, difference, n - 1);
    return multiple;
}

void
gs_turn_by(const double *v, double factor, double *x, npy_intp rows, npy_intp step, npy_intp n)
{
    double products[AT_ONCE];
    while (n > 0 && v[n - 1] == 0) {
        n--; /* an infinity on the diagonal leaves such a vector, and a factor that is NaN: other numbers stay */
    }
    for (npy_intp first = 0; first < rows; first += AT_ONCE, x += AT_ONCE * step) {
        npy_intp count = rows - first < AT_ONCE ? rows - first : AT_ONCE;
        gs_dots(products, x, count, step, v, n);
        for (npy_intp i = 0; i < count; i++) {
            if (products[i] != 0) {
                products[i] *= factor;
                gs_subtract_rows(x + i * step, products + i, v, 1, 0, n);
            }
        }
    }
}

/* ---- blocks of reflections */

/* T of I - V^T T V, an upper triangle, from the products of the vectors with each other, less zero. */
static void
find_triangle(double *t, const double *products, const double *factors, npy_intp count)
{
    for (npy_intp j = 0; j < count; j++) {
        for (npy_intp i = 0; i < j; i++) {
            double sum = 0;
            for (npy_intp k = i; k < j; k++) {
                sum += t[i * count + k] * products[k * count + j];
            }
            t[i * count + j] = factors[j] * sum;
        }
        t[j * count + j] = factors[j];
    }
}

static gs_block
block_at(const double *data, npy_intp step)
{
    return (gs_block){(char *)data, step * (npy_intp)sizeof(double), sizeof(double)};
}

npy_intp
gs_memory_to_turn(npy_intp rows)
{
    return 2 * TOGETHER * (TOGETHER + rows);
}

/* Numbers at the beginning that a reflection leaves alone, and with it those after it. */
static npy_intp
zeros_before(const double *vector, npy_intp n)
{
    npy_intp start = 0;
    while (start < n && vector[start] == 0) {
        start++;
    }
    return start;
}

static void
turn_one_by_one(gs_reflections h, double *x, npy_intp rows, npy_intp step, int transposed)
{
    for (npy_intp done = 0; done < h.count; done++) {
        npy_intp i = transposed ? h.count - 1 - done : done;
        const double *v = h.vectors + i * h.step;
        npy_intp start = zeros_before(v, h.n);
        gs_turn_by(v + start, h.factors[i], x + start, rows, step, h.n - start);
    }
}

static void
turn_block(const gs_algebra *algebra, gs_reflections h, double *x, npy_intp rows, npy_intp step, int transposed,
           double *memory)
{
    npy_intp count = h.count, whole = count * count;
    double *t = memory, *products = t + whole, *sums = products + whole, *turned = sums + rows * count;
    gs_block v = block_at(h.vectors, h.step), of_t = block_at(t, count), of_x = block_at(x, step);
    gs_block of_sums = block_at(sums, count), of_turned = block_at(turned, count);
    memset(memory, 0, sizeof(double) * (size_t)(2 * (whole + rows * count)));
    gs_subtract_product(algebra, block_at(products, count), v, gs_turned(v), count, h.n, count);
    find_triangle(t, products, h.factors, count);
    gs_subtract_product(algebra, of_sums, of_x, gs_turned(v), rows, h.n, count);
    gs_subtract_product(algebra, of_turned, of_sums, transposed ? gs_turned(of_t) : of_t, rows, count, count);
    gs_subtract_product(algebra, of_x, of_turned, v, rows, count, h.n);
}

void
gs_turn_rows(const gs_algebra *algebra, gs_reflections h, double *x, npy_intp rows, npy_intp step, int transposed,
             double *memory)
{
    npy_intp blocks = (h.count + TOGETHER - 1) / TOGETHER;
    for (npy_intp done = 0; done < blocks; done++) {
        npy_intp first = TOGETHER * (transposed ? blocks - 1 - done : done);
        npy_intp count = h.count - first < TOGETHER ? h.count - first : TOGETHER;
        npy_intp start = zeros_before(h.vectors + first * h.step, h.n) / GS_LINE * GS_LINE;
        gs_reflections some = {h.vectors + first * h.step + start, h.factors + first, count, h.n - start, h.step};
        if (count <= FEW) {
            turn_one_by_one(some, x + start, rows, step, transposed);
        } else {
            turn_block(algebra, some, x + start, rows, step, transposed, memory);
        }
    }
}
