/* Householder's reduction and the implicit QL and QR iteration, with the signs that LAPACK's `syevd` gives to the
 * vectors: Golub and Van Loan, Matrix Computations, 8.3. One matrix after the other, without a call for each. */
#include "eigenvalues_kernels.h"
#include "rotation.h"

#include <float.h>
#include <math.h>

#define MOST_STEPS 30 /* for each row */
#define EPSILON (DBL_EPSILON / 2)
#define SMALLEST DBL_MIN

/* What is left of a matrix, by rows; the tridiagonal matrix that it becomes; and, by columns, what turns one into the
 * other, which ends as the eigenvectors. */
typedef struct {
    int n;
    double rest[GS_MOST_ROWS][GS_MOST_ROWS];
    double diagonal[GS_MOST_ROWS], beside[GS_MOST_ROWS]; /* beside[i] is between i and i + 1 */
    double weight[GS_MOST_ROWS];                           /* of a reflection, whose vector is kept in a column of rest */
    double column[GS_MOST_ROWS][GS_MOST_ROWS];
} spectrum;

/* ---- to tridiagonal form, by Householder's reflections */

/* Make the vector of the reflection that leaves of column k, below the diagonal, its first element alone. */
static void
make_reflection(spectrum *s, int k)
{
    double first = s->rest[k + 1][k], squares = 0;
    for (int i = k + 2; i < s->n; i++) {
        squares += s->rest[i][k] * s->rest[i][k];
    }
    s->weight[k] = 0;
    s->beside[k] = first;
    if (squares > SMALLEST / EPSILON) { /* the matrix is of the size of one, beside which less is nothing */
        double length = copysign(sqrt(first * first + squares), -first);
        s->weight[k] = (length - first) / length;
        s->beside[k] = length;
        for (int i = k + 2; i < s->n; i++) {
            s->rest[i][k] /= first - length;
        }
    }
    s->rest[k + 1][k] = 1;
}

/* Apply it from both sides to the rows and columns after k. */
static void
reflect_rest(spectrum *s, int k)
{
    double product[GS_MOST_ROWS], along = 0;
    for (int i = k + 1; i < s->n; i++) {
        double sum = 0;
        for (int j = k + 1; j < s->n; j++) {
            sum += (i < j ? s->rest[j][i] : s->rest[i][j]) * s->rest[j][k];
        }
        product[i] = s->weight[k] * sum;
        along += product[i] * s->rest[i][k];
    }
    for (int i = k + 1; i < s->n; i++) {
        product[i] -= s->weight[k] / 2 * along * s->rest[i][k];
    }
    for (int i = k + 1; i < s->n; i++) {
        for (int j = k + 1; j <= i; j++) {
            s->rest[i][j] -= s->rest[i][k] * product[j] + product[i] * s->rest[j][k];
        }
    }
}

static void
make_tridiagonal(spectrum *s)
{
    for (int k = 0; k < s->n; k++) {
        s->diagonal[k] = s->rest[k][k];
        if (k + 1 < s->n) {
            make_reflection(s, k);
            reflect_rest(s, k);
        }
    }
}

/* Apply all reflections, the last one first, to the eigenvectors of the tridiagonal matrix. */
static void
reflect_columns(spectrum *s)
{
    for (int k = s->n - 2; k >= 0; k--) {
        for (int j = 0; j < s->n; j++) {
            double along = 0;
            for (int i = k + 1; i < s->n; i++) {
                along += s->rest[i][k] * s->column[j][i];
            }
            for (int i = k + 1; i < s->n; i++) {
                s->column[j][i] -= s->weight[k] * along * s->rest[i][k];
            }
        }
    }
}

/* ---- eigenvalues of the tridiagonal matrix, by implicitly shifted QL and QR steps */

/* Turn the plane of two columns. */
static void
turn(spectrum *s, int one, int other, double cosine, double sine)
{
    for (int i = 0; i < s->n; i++) {
        double x = s->column[one][i], y = s->column[other][i];
        s->column[one][i] = cosine * x - sine * y;
        s->column[other][i] = sine * x + cosine * y;
    }
}

/* The length of (x, y). */
static double
length(double x, double y)
{
    double cosine, sine;
    return fabs(careful_rotation(x, y, &cosine, &sine));
}

/* The eigenvalues of [[a, b], [b, c]], the one of the larger magnitude first, and its eigenvector (cosine, sine). */
static void
solve_pair(double a, double b, double c, double *first, double *second, double *cosine, double *sine)
{
    double sum = a + c, gap = a - c, twice = b + b;
    double larger = fabs(a) > fabs(c) ? a : c, smaller = fabs(a) > fabs(c) ? c : a;
    double root = length(gap, twice);
    int is_negative = sum < 0;
    *first = (is_negative ? sum - root : sum + root) / 2;
    *second = sum == 0 ? -root / 2 : larger / *first * smaller - b / *first * b;
    double side = gap >= 0 ? gap + root : gap - root;
    if (fabs(side) > fabs(twice)) {
        double tangent = -twice / side;
        *sine = 1 / sqrt(1 + tangent * tangent);
        *cosine = tangent * *sine;
    } else if (twice == 0) {
        *cosine = 1;
        *sine = 0;
    } else {
        double tangent = -side / twice;
        *cosine = 1 / sqrt(1 + tangent * tangent);
        *sine = tangent * *cosine;
    }
    if (is_negative != (gap >= 0)) {
        double turned = *cosine;
        *cosine = -*sine;
        *sine = turned;
    }
}

/* One step, from row `last` back to `here`: towards smaller rows when `step` is 1, towards larger ones when it is -1. */
static void
sweep(spectrum *s, int here, int last, int step)
{
    int before = step < 0; /* between rows i and i + step is beside[i - before] */
    double *d = s->diagonal, *e = s->beside;
    double half = (d[here + step] - d[here]) / (2 * e[here - before]);
    double shifted = d[last] - d[here] + e[here - before] / (half + copysign(length(half, 1), half));
    double cosine = 1, sine = 1, lost = 0;
    for (int i = last - step; i != here - step; i -= step) {
        double f = sine * e[i - before], b = cosine * e[i - before];
        double length = careful_rotation(shifted, f, &cosine, &sine);
        if (i != last - step) {
            e[i + step - before] = length;
        }
        shifted = d[i + step] - lost;
        double change = (d[i] - shifted) * sine + 2 * cosine * b;
        lost = sine * change;
        d[i + step] = shifted + lost;
        shifted = cosine * change - b;
        turn(s, i, i + step, cosine, sine);
    }
    d[here] -= lost;
    e[here - before] = shifted;
}

/* The first row from `here` towards `end` after which the element beside the diagonal is as good as zero, or `end`. */
static int
end_of_part(spectrum *s, int here, int end, int step)
{
    double *d = s->diagonal, *e = s->beside;
    for (int i = here; i != end; i += step) {
        double *between = &e[i - (step < 0)];
        if (*between * *between <= (EPSILON * fabs(d[i])) * (EPSILON * fabs(d[i + step])) + SMALLEST) {
            *between = 0;
            return i;
        }
    }
    return end;
}

/* Separate one eigenvalue after the other from the rows `here` to `end`. Gives the number of steps that are left. */
static int
separate(spectrum *s, int here, int end, int steps)
{
    int step = here < end ? 1 : -1;
    while ((end - here) * step >= 0) {
        int last = end_of_part(s, here, end, step);
        if (last == here) {
            here += step;
        } else if (last == here + step) {
            int low = step > 0 ? here : last;
            double *d = &s->diagonal[low], cosine, sine;
            solve_pair(d[0], s->beside[low], d[1], &d[0], &d[1], &cosine, &sine);
            turn(s, low + 1, low, cosine, sine);
            s->beside[low] = 0;
            here += 2 * step;
        } else if (steps-- == 0) {
            return -1;
        } else {
            sweep(s, here, last, step);
        }
    }
    return steps;
}

/* Diagonalise block by block, each from the end with the smaller diagonal element. False if it does not converge. */
static int
diagonalise(spectrum *s)
{
    int steps = MOST_STEPS * s->n;
    for (int start = 0, end; start < s->n && steps >= 0; start = end + 1) {
        for (end = start; end + 1 < s->n; end++) {
            double size = sqrt(fabs(s->diagonal[end])) * sqrt(fabs(s->diagonal[end + 1]));
            if (fabs(s->beside[end]) <= size * EPSILON) {
                s->beside[end] = 0;
                break;
            }
        }
        int is_upward = fabs(s->diagonal[end]) < fabs(s->diagonal[start]);
        steps = separate(s, is_upward ? end : start, is_upward ? start : end, steps);
    }
    return steps >= 0;
}

static void
sort(spectrum *s)
{
    for (int i = 0; i < s->n - 1; i++) {
        int least = i;
        for (int j = i + 1; j < s->n; j++) {
            least = s->diagonal[j] < s->diagonal[least] ? j : least;
        }
        if (least != i) {
            double value = s->diagonal[i];
            s->diagonal[i] = s->diagonal[least];
            s->diagonal[least] = value;
            for (int j = 0; j < s->n; j++) {
                double element = s->column[i][j];
                s->column[i][j] = s->column[least][j];
                s->column[least][j] = element;
            }
        }
    }
}

/* ---- matrices */

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

ptrdiff_t
gs_small_eigh(const double *a, double *values, double *vectors, ptrdiff_t count, int n)
{
    spectrum s;
    s.n = n;
    for (ptrdiff_t matrix = 0; matrix < count; matrix++, a += n * n, vectors += n * n, values += n) {
        double scale = scale_of(a, n * n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                s.rest[i][j] = scale * a[i * n + j];
                s.column[i][j] = i == j;
            }
        }
        make_tridiagonal(&s);
        if (!diagonalise(&s)) {
            return matrix;
        }
        reflect_columns(&s);
        sort(&s);
        for (int i = 0; i < n; i++) {
            values[i] = s.diagonal[i] / scale;
            for (int j = 0; j < n; j++) {
                vectors[i * n + j] = s.column[j][i];
            }
        }
    }
    return -1;
}
