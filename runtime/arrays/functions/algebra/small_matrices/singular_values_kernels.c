/* Reduction to a bidiagonal matrix and implicit QR steps, with the signs that LAPACK's `gesdd` gives to the vectors:
 * Demmel and Kahan, Accurate singular values of bidiagonal matrices. One matrix after the other, without a call for
 * each. */
#include "singular_values_kernels.h"
#include "rotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_STEPS 6 /* for each pair of rows */
#define EPSILON (DBL_EPSILON / 2)
#define TOLERANCE (98.7 * EPSILON) /* EPSILON to the power of 7/8 */

/* The reflection I - weight * vector * vector', whose vector is zero before `first`. */
typedef struct {
    int first, end;
    double weight, vector[GS_MOST_ROWS];
} reflection;

/* What is left of a matrix; the reflections from both sides that take the rest away; the bidiagonal matrix that it
 * becomes; and its singular vectors: a row of `left` is a left one, a row of `right` a right one. */
typedef struct {
    int rows, columns, size; /* size is the smaller */
    double rest[GS_MOST_ROWS][GS_MOST_ROWS];
    reflection from_left[2 * GS_MOST_ROWS], from_right[2 * GS_MOST_ROWS];
    int left_count, right_count;
    double diagonal[GS_MOST_ROWS], beside[GS_MOST_ROWS]; /* beside[i] is between i and i + 1 */
    double left[GS_MOST_ROWS][GS_MOST_ROWS], right[GS_MOST_ROWS][GS_MOST_ROWS];
    int has_vectors;
} problem;

/* ---- reflections */

/* Make of the elements `first` to `end` of a vector those of the reflection that leaves the first of them alone, which
 * it gives. The elements are not far from one, or so small that they do not count. */
static double
make_reflection(reflection *r, int first, int end)
{
    double head = r->vector[first], squares = 0;
    r->first = first;
    r->end = end;
    r->weight = 0;
    for (int i = first + 1; i < end; i++) {
        squares += r->vector[i] * r->vector[i];
    }
    if (squares < DBL_MIN / EPSILON) {
        return head;
    }
    double length = copysign(sqrt(head * head + squares), -head);
    r->weight = (length - head) / length;
    for (int i = first + 1; i < end; i++) {
        r->vector[i] /= head - length;
    }
    r->vector[first] = 1;
    return length;
}

static void
reflect(const reflection *r, double *x)
{
    double along = 0;
    for (int i = r->first; i < r->end; i++) {
        along += r->vector[i] * x[i];
    }
    along *= r->weight;
    for (int i = r->first; i < r->end; i++) {
        x[i] -= along * r->vector[i];
    }
}

/* Clear column k below row `first`, and give what the element there becomes. */
static double
reflect_rows(problem *p, int first, int k)
{
    reflection *r = &p->from_left[p->left_count++];
    for (int i = first; i < p->rows; i++) {
        r->vector[i] = p->rest[i][k];
    }
    double left = make_reflection(r, first, p->rows), along[GS_MOST_ROWS] = {0};
    if (r->weight == 0) {
        p->left_count--;
        return left;
    }
    for (int i = first; i < p->rows; i++) {
        for (int j = k + 1; j < p->columns; j++) {
            along[j] += r->vector[i] * p->rest[i][j];
        }
    }
    for (int i = first; i < p->rows; i++) {
        for (int j = k + 1; j < p->columns; j++) {
            p->rest[i][j] -= r->weight * along[j] * r->vector[i];
        }
    }
    return left;
}

/* The same of row k, after column `first`. */
static double
reflect_columns(problem *p, int k, int first)
{
    reflection *r = &p->from_right[p->right_count++];
    for (int j = first; j < p->columns; j++) {
        r->vector[j] = p->rest[k][j];
    }
    double left = make_reflection(r, first, p->columns);
    if (r->weight == 0) {
        p->right_count--;
        return left;
    }
    for (int i = k + 1; i < p->rows; i++) {
        reflect(r, p->rest[i]);
    }
    return left;
}

/* ---- to bidiagonal form */

/* A matrix with many more rows than columns becomes a triangle, and one with many more columns too, as in LAPACK. */
static void
make_square(problem *p)
{
    if (p->rows >= p->size * 11 / 6 && p->rows > p->columns) {
        for (int k = 0; k < p->columns; k++) {
            p->rest[k][k] = reflect_rows(p, k, k);
            for (int i = k + 1; i < p->rows; i++) {
                p->rest[i][k] = 0;
            }
        }
        p->rows = p->columns;
    } else if (p->columns >= p->size * 11 / 6 && p->columns > p->rows) {
        for (int k = 0; k < p->rows; k++) {
            p->rest[k][k] = reflect_columns(p, k, k);
            for (int j = k + 1; j < p->columns; j++) {
                p->rest[k][j] = 0;
            }
        }
        p->columns = p->rows;
    }
}

static void
make_upper(problem *p)
{
    for (int k = 0; k < p->size; k++) {
        p->diagonal[k] = reflect_rows(p, k, k);
        if (k + 1 < p->size) {
            p->beside[k] = reflect_columns(p, k, k + 1);
        }
    }
}

static void
make_lower(problem *p)
{
    for (int k = 0; k < p->size; k++) {
        p->diagonal[k] = reflect_columns(p, k, k);
        if (k + 1 < p->size) {
            p->beside[k] = reflect_rows(p, k + 1, k);
        }
    }
}

/* ---- rotations */

/* The rotation that turns (f, g) to (r, 0), of the sign of f; gives r. Neither is much larger than one. */
static inline double
rotation(double f, double g, double *cosine, double *sine)
{
    double squares = f * f + g * g;
    if (squares < DBL_MIN / EPSILON) {
        return careful_rotation(f, g, cosine, sine);
    }
    double length = copysign(sqrt(squares), f + 0.0), inverse = 1 / length; /* + 0.0 takes the sign from zero */
    *cosine = f * inverse;
    *sine = g * inverse;
    return length;
}

/* Turn the plane of two vectors. */
static void
turn(problem *p, double (*vectors)[GS_MOST_ROWS], int one, int other, double cosine, double sine)
{
    double *x = vectors[one], *y = vectors[other];
    for (int i = 0; p->has_vectors && i < p->size; i++) {
        double was = x[i];
        x[i] = cosine * was + sine * y[i];
        y[i] = cosine * y[i] - sine * was;
    }
}

/* Make a lower bidiagonal matrix an upper one; gives the rotations, which turn the left vectors at the end. */
static void
rotate_to_upper(problem *p, double *cosines, double *sines)
{
    double *d = p->diagonal, *e = p->beside;
    for (int i = 0; i + 1 < p->size; i++) {
        d[i] = rotation(d[i], e[i], &cosines[i], &sines[i]);
        e[i] = sines[i] * d[i + 1];
        d[i + 1] *= cosines[i];
    }
}

static void
rotate_back(problem *p, const double *cosines, const double *sines)
{
    for (int i = p->size - 2; i >= 0; i--) {
        for (int j = 0; j < p->size; j++) {
            double x = p->left[j][i], y = p->left[j][i + 1];
            p->left[j][i] = cosines[i] * x - sines[i] * y;
            p->left[j][i + 1] = cosines[i] * y + sines[i] * x;
        }
    }
}

/* ---- matrices of two rows */

/* The smaller singular value of [[f, g], [0, h]]. */
static double
smaller_of_pair(double f, double g, double h)
{
    double low = fmin(fabs(f), fabs(h)), high = fmax(fabs(f), fabs(h)), between = fabs(g);
    if (low == 0) {
        return 0;
    }
    double sum = 1 + low / high, gap = (high - low) / high;
    if (between < high) {
        double square = between / high * (between / high);
        return low * (2 / (sqrt(sum * sum + square) + sqrt(gap * gap + square)));
    }
    double ratio = high / between;
    if (ratio == 0) {
        return low * high / between;
    }
    return 2 * (low * (1 / (sqrt(1 + sum * ratio * (sum * ratio)) + sqrt(1 + gap * ratio * (gap * ratio)))) * ratio);
}

/* The singular values, with signs, of [[f, g], [0, h]], the one of the larger magnitude first, and its vectors. */
typedef struct {
    double larger, smaller, left_cosine, left_sine, right_cosine, right_sine;
} pair;

/* The same where |f| is not less than |h|, and the values have no signs yet. */
static pair
ordered_pair(double f, double g, double h)
{
    double from_f = fabs(f), from_g = fabs(g), from_h = fabs(h);
    if (from_g == 0) {
        return (pair){from_f, from_h, 1, 0, 1, 0};
    }
    if (from_g > from_f && from_f / from_g < EPSILON) {
        double smaller = from_h > 1 ? from_f / (from_g / from_h) : from_f / from_g * from_h;
        return (pair){from_g, smaller, 1, h / g, f / g, 1};
    }
    double gap = from_f - from_h, part = gap == from_f ? 1 : gap / from_f, slope = g / f, rest = 2 - part;
    double square = slope * slope, sum = sqrt(rest * rest + square);
    double root = part == 0 ? fabs(slope) : sqrt(part * part + square), mean = 0.5 * (sum + root), tangent;
    if (square != 0) {
        tangent = (slope / (sum + rest) + slope / (root + part)) * (1 + mean);
    } else if (part == 0) {
        tangent = copysign(2.0, f) * copysign(1.0, g);
    } else {
        tangent = g / copysign(gap, f) + slope / rest;
    }
    double length = sqrt(tangent * tangent + 4), cosine = 2 / length, sine = tangent / length;
    return (pair){from_f * mean, from_h / mean, (cosine + sine * slope) / mean, h / f * sine / mean, cosine, sine};
}

static pair
solve_pair(double f, double g, double h)
{
    int is_swapped = fabs(h) > fabs(f);
    pair found = is_swapped ? ordered_pair(h, g, f) : ordered_pair(f, g, h);
    if (is_swapped) {
        found = (pair){found.larger,     found.smaller,     found.right_sine, found.right_cosine,
                       found.left_sine, found.left_cosine};
    }
    double sign;
    if (fabs(g) > fmax(fabs(f), fabs(h))) {
        sign = copysign(1.0, found.right_sine) * copysign(1.0, found.left_cosine) * copysign(1.0, g);
    } else if (is_swapped) {
        sign = copysign(1.0, found.right_sine) * copysign(1.0, found.left_sine) * copysign(1.0, h);
    } else {
        sign = copysign(1.0, found.right_cosine) * copysign(1.0, found.left_cosine) * copysign(1.0, f);
    }
    found.larger = copysign(found.larger, sign);
    found.smaller = copysign(found.smaller, sign * copysign(1.0, f) * copysign(1.0, h));
    return found;
}

/* ---- steps, which work on the rows `top` to `bottom` and chase what is off the two diagonals away */

/* Rows in the order of a step. Going up, rows are columns, and left vectors are right ones. */
typedef struct {
    problem *p;
    int start, end, way; /* way is 1 downwards and -1 upwards */
    double (*first)[GS_MOST_ROWS], (*second)[GS_MOST_ROWS]; /* the vectors that the first and second rotations turn */
} walk;

static double *
between(const walk *w, int i)
{
    return &w->p->beside[w->way > 0 ? i : i - 1]; /* rows i and i + way */
}

/* Turn the vectors of row i and of the one after it. */
static void
turn_next(const walk *w, double (*vectors)[GS_MOST_ROWS], int i, double cosine, double sine)
{
    if (w->way > 0) {
        turn(w->p, vectors, i, i + 1, cosine, sine);
    } else {
        turn(w->p, vectors, i - 1, i, cosine, -sine);
    }
}

/* A step without a shift, which keeps the relative accuracy of small values. */
static void
step_without_shift(const walk *w)
{
    double *d = w->p->diagonal, cosine = 1, sine, last_cosine = 1, last_sine = 0;
    for (int i = w->start; i != w->end; i += w->way) {
        double length = rotation(d[i] * cosine, *between(w, i), &cosine, &sine);
        if (i != w->start) {
            *between(w, i - w->way) = last_sine * length;
        }
        d[i] = rotation(last_cosine * length, d[i + w->way] * sine, &last_cosine, &last_sine);
        turn_next(w, w->first, i, cosine, sine);
        turn_next(w, w->second, i, last_cosine, last_sine);
    }
    double last = d[w->end] * cosine;
    d[w->end] = last * last_cosine;
    *between(w, w->end - w->way) = last * last_sine;
}

static void
step_with_shift(const walk *w, double shift)
{
    double *d = w->p->diagonal, cosine, sine, *e, *next;
    double f = (fabs(d[w->start]) - shift) * (copysign(1.0, d[w->start]) + shift / d[w->start]);
    double g = *between(w, w->start);
    for (int i = w->start; i != w->end; i += w->way) {
        double length = rotation(f, g, &cosine, &sine);
        if (i != w->start) {
            *between(w, i - w->way) = length;
        }
        e = between(w, i);
        f = cosine * d[i] + sine * *e;
        *e = cosine * *e - sine * d[i];
        g = sine * d[i + w->way];
        d[i + w->way] *= cosine;
        turn_next(w, w->first, i, cosine, sine);
        d[i] = rotation(f, g, &cosine, &sine);
        f = cosine * *e + sine * d[i + w->way];
        d[i + w->way] = cosine * d[i + w->way] - sine * *e;
        if (i + w->way != w->end) {
            next = between(w, i + w->way);
            g = sine * *next;
            *next *= cosine;
        }
        turn_next(w, w->second, i, cosine, sine);
    }
    *between(w, w->end - w->way) = f;
}

/* Is an element beside the diagonal nothing beside the others? Then it becomes zero. Otherwise `least` becomes a lower
 * bound of the singular values. */
static int
has_converged(const walk *w, double *least)
{
    double *d = w->p->diagonal, *last = between(w, w->end - w->way);
    if (fabs(*last) <= TOLERANCE * fabs(d[w->end])) {
        *last = 0;
        return 1;
    }
    double bound = fabs(d[w->start]);
    *least = bound;
    for (int i = w->start; i != w->end; i += w->way) {
        double *e = between(w, i);
        if (fabs(*e) <= TOLERANCE * bound) {
            *e = 0;
            return 1;
        }
        bound = fabs(d[i + w->way]) * (bound / (bound + fabs(*e)));
        *least = fmin(*least, bound);
    }
    return 0;
}

static double
shift_of(const walk *w, double least, double largest)
{
    double *d = w->p->diagonal, head = fabs(d[w->start]);
    if (w->p->size * TOLERANCE * (least / largest) <= fmax(EPSILON, 0.01 * TOLERANCE)) {
        return 0;
    }
    int near_end = w->end - w->way;
    double shift = smaller_of_pair(d[near_end], *between(w, near_end), d[w->end]);
    return head > 0 && shift / head * (shift / head) < EPSILON ? 0 : shift;
}

/* What is smaller than this beside the diagonal is nothing beside every singular value. */
static double
threshold_of(const problem *p)
{
    double bound = fabs(p->diagonal[0]), least = bound;
    for (int i = 1; i < p->size && least != 0; i++) {
        bound = fabs(p->diagonal[i]) * (bound / (bound + fabs(p->beside[i - 1])));
        least = fmin(least, bound);
    }
    return fmax(TOLERANCE * (least / sqrt(p->size)), MOST_STEPS * p->size * p->size * DBL_MIN);
}

/* The first row of the part that ends with `bottom`, above which is zero; and its largest element. */
static int
top_of_part(problem *p, int bottom, double threshold, double *largest)
{
    *largest = fabs(p->diagonal[bottom]);
    for (int i = bottom - 1; i >= 0; i--) {
        if (fabs(p->beside[i]) <= threshold) {
            p->beside[i] = 0;
            return i + 1;
        }
        *largest = fmax(*largest, fmax(fabs(p->diagonal[i]), fabs(p->beside[i])));
    }
    return 0;
}

static void
separate_pair(problem *p, int i)
{
    pair found = solve_pair(p->diagonal[i], p->beside[i], p->diagonal[i + 1]);
    p->diagonal[i] = found.larger;
    p->beside[i] = 0;
    p->diagonal[i + 1] = found.smaller;
    turn(p, p->right, i, i + 1, found.right_cosine, found.right_sine);
    turn(p, p->left, i, i + 1, found.left_cosine, found.left_sine);
}

static walk
walk_down(problem *p, int top, int bottom)
{
    return (walk){p, top, bottom, 1, p->right, p->left};
}

static walk
walk_up(problem *p, int top, int bottom)
{
    return (walk){p, bottom, top, -1, p->left, p->right};
}

/* One step on a part, or none if it falls apart. */
static void
step(const walk *w, double threshold, double largest)
{
    double least, *last = between(w, w->end - w->way);
    if (has_converged(w, &least)) {
        return;
    }
    double shift = shift_of(w, least, largest);
    if (shift == 0) {
        step_without_shift(w);
    } else {
        step_with_shift(w, shift);
    }
    if (fabs(*last) <= threshold) {
        *last = 0;
    }
}

/* Make the upper bidiagonal matrix diagonal. False if it does not converge. A part is walked from its larger end to
 * its smaller one, and the same way until it has fallen apart. */
static int
diagonalise(problem *p)
{
    double threshold = threshold_of(p), largest;
    int last_top = -1, last_bottom = -1, goes_down = 1;
    int bottom = p->size - 1, steps = MOST_STEPS * p->size * p->size * GS_MOST_ROWS;
    while (bottom > 0) {
        int top = top_of_part(p, bottom, threshold, &largest);
        if (top == bottom) {
            bottom--;
        } else if (top + 1 == bottom) {
            separate_pair(p, top);
            bottom -= 2;
        } else if (steps-- == 0) {
            return 0;
        } else {
            if (top > last_bottom || bottom < last_top) {
                goes_down = fabs(p->diagonal[top]) >= fabs(p->diagonal[bottom]);
            }
            walk way = goes_down ? walk_down(p, top, bottom) : walk_up(p, top, bottom);
            last_top = top;
            last_bottom = bottom;
            step(&way, threshold, largest);
        }
    }
    return 1;
}

/* ---- in order */

static void
swap_rows(double *one, double *other)
{
    double kept[GS_MOST_ROWS];
    memcpy(kept, one, sizeof kept);
    memcpy(one, other, sizeof kept);
    memcpy(other, kept, sizeof kept);
}

/* Make the values positive, and put the largest first. */
static void
sort(problem *p)
{
    double *d = p->diagonal;
    for (int i = 0; i < p->size; i++) {
        double *turned = p->size == 1 ? p->left[i] : p->right[i];
        for (int j = 0; d[i] < 0 && j < p->size; j++) {
            turned[j] = -turned[j];
        }
        d[i] = fabs(d[i]);
    }
    for (int last = p->size - 1; last > 0; last--) {
        int least = 0;
        for (int j = 1; j <= last; j++) {
            least = d[j] <= d[least] ? j : least;
        }
        if (least != last) {
            double value = d[least];
            d[least] = d[last];
            d[last] = value;
            swap_rows(p->left[least], p->left[last]);
            swap_rows(p->right[least], p->right[last]);
        }
    }
}

/* ---- matrices */

/* Vector `i` of the whole matrix: one of the bidiagonal matrix, or a unit vector behind them, reflected. */
static void
whole_vector(const problem *p, double (*vectors)[GS_MOST_ROWS], int i, const reflection *reflections, int count,
             double *vector)
{
    memset(vector, 0, GS_MOST_ROWS * sizeof *vector);
    if (i < p->size) {
        memcpy(vector, vectors[i], p->size * sizeof *vector);
    } else {
        vector[i] = 1;
    }
    while (count--) {
        reflect(&reflections[count], vector);
    }
}

static void
write_vectors(problem *p, double *u, double *vh, int rows, int columns, int left, int right)
{
    double vector[GS_MOST_ROWS];
    for (int j = 0; j < left; j++) {
        whole_vector(p, p->left, j, p->from_left, p->left_count, vector);
        for (int i = 0; i < rows; i++) {
            u[i * left + j] = vector[i];
        }
    }
    for (int i = 0; i < right; i++) {
        whole_vector(p, p->right, i, p->from_right, p->right_count, vector);
        memcpy(vh + i * columns, vector, columns * sizeof *vector);
    }
}

/* A power of two that brings the largest element close to one. */
static double
scale_of(const double *a, int size)
{
    double largest = 0;
    int exponent;
    for (int i = 0; i < size; i++) {
        largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    }
    frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

static void
begin(problem *p, const double *a, double scale, int rows, int columns)
{
    p->rows = rows;
    p->columns = columns;
    p->size = rows < columns ? rows : columns;
    p->left_count = p->right_count = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            p->rest[i][j] = scale * a[i * columns + j];
        }
    }
    for (int i = 0; p->has_vectors && i < p->size; i++) {
        for (int j = 0; j < p->size; j++) {
            p->left[i][j] = p->right[i][j] = i == j;
        }
    }
}

static int
solve(problem *p)
{
    double cosines[GS_MOST_ROWS], sines[GS_MOST_ROWS];
    make_square(p);
    int is_lower = p->rows < p->columns;
    if (is_lower) {
        make_lower(p);
        rotate_to_upper(p, cosines, sines);
    } else {
        make_upper(p);
    }
    if (!diagonalise(p)) {
        return 0;
    }
    sort(p);
    if (is_lower && p->has_vectors) {
        rotate_back(p, cosines, sines);
    }
    return 1;
}

ptrdiff_t
gs_small_svd(const double *a, double *u, double *values, double *vh, ptrdiff_t count, int rows, int columns, int left,
             int right)
{
    problem p;
    p.has_vectors = u != NULL;
    for (ptrdiff_t matrix = 0; matrix < count; matrix++, a += rows * columns) {
        double scale = scale_of(a, rows * columns);
        begin(&p, a, scale, rows, columns);
        if (!solve(&p)) {
            return matrix;
        }
        for (int i = 0; i < p.size; i++) {
            *values++ = p.diagonal[i] / scale;
        }
        if (p.has_vectors) {
            write_vectors(&p, u, vh, rows, columns, left, right);
            u += rows * left;
            vh += right * columns;
        }
    }
    return -1;
}
