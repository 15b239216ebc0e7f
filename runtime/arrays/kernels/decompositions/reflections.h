/* Note [Reflections]
 *
 * Orthogonal factors are products of reflections H = I - factor * v v^T, and LAPACK's signs are kept.  Applied one by one
 * they would read a matrix once for each; a block of them is I - V^T T V, with the vectors as rows of V and a triangle T,
 * and its application are three products:  x -= ((x V^T) T') V.
 *
 * Matrices lie so that what is reflected is a row.  Sums over rows take four of them at a time, so that what they are
 * added to is read a quarter as often.
 */
#define TOGETHER 48 /* reflections of a block */
#define AT_ONCE 16  /* rows that are multiplied by one reflection */
#define FEW 8       /* up to which a block does not pay */

/* One of AVX-512, or two of AVX2. */
typedef NUMBER vector __attribute__((vector_size(64)));
typedef NUMBER unaligned __attribute__((vector_size(64), aligned(sizeof(NUMBER))));

/* A macro, since a function that gives a vector would have another interface in each clone. */
#define LOAD(x) (*(const unaligned *)(x))

GS_INLINE NUMBER
total(vector *parts)
{
    NUMBER *x = (NUMBER *)parts;
    for (npy_intp half = LINE / 2; half > 0; half /= 2) {
        for (npy_intp i = 0; i < half; i++) {
            x[i] += x[half + i];
        }
    }
    return x[0];
}

/* ---- sums over rows */

GS_INLINE void
dots_of(const int rows, NUMBER *found, const NUMBER *row, npy_intp step, const NUMBER *x, npy_intp n)
{
    vector sums[4] = {{0}};
    npy_intp j = 0;
    for (; j + LINE <= n; j += LINE) {
        vector factor = LOAD(x + j);
        for (int r = 0; r < rows; r++) {
            sums[r] += factor * LOAD(row + r * step + j);
        }
    }
    for (int r = 0; r < rows; r++) {
        found[r] = total(sums + r);
        for (npy_intp rest = j; rest < n; rest++) {
            found[r] += x[rest] * row[r * step + rest];
        }
    }
}

/* found[r] = row r . x, of so many rows `step` numbers apart. */
GS_CLONES static void
dots(NUMBER *found, const NUMBER *rows, npy_intp count, npy_intp step, const NUMBER *x, npy_intp n)
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
subtract_some(const int count, NUMBER *y, const NUMBER *factors, const NUMBER *row, npy_intp step, npy_intp n)
{
    npy_intp j = 0;
    for (; j + LINE <= n; j += LINE) {
        vector sum = LOAD(y + j);
        for (int r = 0; r < count; r++) {
            sum -= factors[r] * LOAD(row + r * step + j);
        }
        *(unaligned *)(y + j) = sum;
    }
    for (; j < n; j++) {
        for (int r = 0; r < count; r++) {
            y[j] -= factors[r] * row[r * step + j];
        }
    }
}

/* y -= the sum of factors[r] * row r. */
GS_CLONES static void
subtract_sum(NUMBER *y, const NUMBER *factors, const NUMBER *rows, npy_intp count, npy_intp step, npy_intp n)
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
norm_of(const NUMBER *x, npy_intp n)
{
    NUMBER square;
    double greatest = 0, sum = 0;
    dots(&square, x, 1, 0, x, n);
    if (square >= (NUMBER)LEAST_SQUARE && square <= (NUMBER)MOST_SQUARE) {
        return sqrt((double)square);
    }
    for (npy_intp i = 0; i < n; i++) {
        greatest = fmax(greatest, fabs((double)x[i]));
    }
    if (greatest == 0 || !isfinite(greatest)) {
        return sqrt((double)square);
    }
    for (npy_intp i = 0; i < n; i++) {
        double part = (double)x[i] / greatest;
        sum += part * part;
    }
    return greatest * sqrt(sum);
}

GS_CLONES static void
divide(NUMBER *x, NUMBER divisor, npy_intp n)
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

/* Replaces x, of n numbers, by the vector v with v[0] = 1 for which I - factor * v v^T makes x a multiple of the first
 * unit vector; returns this multiple. Denormal numbers have few digits: vectors of such ones are enlarged. */
static NUMBER
reflect(NUMBER *x, npy_intp n, NUMBER *factor)
{
    double first = (double)x[0], rest = norm_of(x + 1, n - 1);
    if (rest != 0 && fabs(first) + rest < LEAST_NORM) {
        multiply(x, (NUMBER)ENLARGED, n);
        return reflect(x, n, factor) / (NUMBER)ENLARGED;
    }
    x[0] = 1;
    *factor = 0;
    if (rest == 0) {
        return (NUMBER)first;
    }
    double multiple = -copysign(hypotenuse(first, rest), first), difference = first - multiple;
    *factor = (NUMBER)(-difference / multiple);
    divide(x + 1, (NUMBER)difference, n - 1);
    return (NUMBER)multiple;
}

/* Multiplies x (rows of n numbers, `step` numbers apart) from the right by I - factor * v v^T. */
static void
turn_by(const NUMBER *v, NUMBER factor, NUMBER *x, npy_intp rows, npy_intp step, npy_intp n)
{
    NUMBER products[AT_ONCE];
    while (n > 0 && v[n - 1] == 0) {
        n--; /* an infinity on the diagonal leaves such a vector, and a factor that is NaN: other numbers stay */
    }
    for (npy_intp first = 0; first < rows; first += AT_ONCE, x += AT_ONCE * step) {
        npy_intp count = least(rows - first, AT_ONCE);
        dots(products, x, count, step, v, n);
        for (npy_intp i = 0; i < count; i++) {
            if (products[i] != 0) {
                products[i] *= factor;
                subtract_sum(x + i * step, products + i, v, 1, 0, n);
            }
        }
    }
}

/* ---- blocks of reflections */

/* T of I - V^T T V, an upper triangle, from the products of the vectors with each other, less zero. */
static void
find_triangle(NUMBER *t, const NUMBER *products, const NUMBER *factors, npy_intp count)
{
    for (npy_intp j = 0; j < count; j++) {
        for (npy_intp i = 0; i < j; i++) {
            NUMBER sum = 0;
            for (npy_intp k = i; k < j; k++) {
                sum += t[i * count + k] * products[k * count + j];
            }
            t[i * count + j] = factors[j] * sum;
        }
        t[j * count + j] = factors[j];
    }
}

/* Reflections H1 H2 ... of n numbers; vectors are rows `step` numbers apart, zero before what they reflect. */
typedef struct {
    const NUMBER *vectors, *factors;
    npy_intp count, n, step;
} reflections;

/* The numbers of memory that turn_rows needs, at most, for so many rows. */
static npy_intp
memory_to_turn(npy_intp rows)
{
    return 2 * TOGETHER * (TOGETHER + rows);
}

/* Numbers at the beginning that a reflection leaves alone, and with it those after it. */
static npy_intp
zeros_before(const NUMBER *vector, npy_intp n)
{
    npy_intp start = 0;
    while (start < n && vector[start] == 0) {
        start++;
    }
    return start;
}

static void
turn_one_by_one(reflections h, NUMBER *x, npy_intp rows, npy_intp step, int transposed)
{
    for (npy_intp done = 0; done < h.count; done++) {
        npy_intp i = transposed ? h.count - 1 - done : done;
        const NUMBER *v = h.vectors + i * h.step;
        npy_intp start = zeros_before(v, h.n);
        turn_by(v + start, h.factors[i], x + start, rows, step, h.n - start);
    }
}

static void
turn_block(const gs_algebra *algebra, reflections h, NUMBER *x, npy_intp rows, npy_intp step, int transposed,
           NUMBER *memory)
{
    npy_intp count = h.count, whole = count * count;
    NUMBER *t = memory, *products = t + whole, *sums = products + whole, *turned = sums + rows * count;
    gs_block v = block_at(h.vectors, h.step), of_t = block_at(t, count), of_x = block_at(x, step);
    gs_block of_sums = block_at(sums, count), of_turned = block_at(turned, count);
    memset(memory, 0, bytes(2 * (whole + rows * count)));
    gs_subtract_product(algebra, block_at(products, count), v, gs_turned(v), count, h.n, count);
    find_triangle(t, products, h.factors, count);
    gs_subtract_product(algebra, of_sums, of_x, gs_turned(v), rows, h.n, count);
    gs_subtract_product(algebra, of_turned, of_sums, transposed ? gs_turned(of_t) : of_t, rows, count, count);
    gs_subtract_product(algebra, of_x, of_turned, v, rows, count, h.n);
}

/* Multiplies x (rows of n numbers, `step` numbers apart) from the right by the transpose of H1 H2 ..., or by that itself:
 * each row is a vector that the product, or its transpose, is applied to. */
static void
turn_rows(const gs_algebra *algebra, reflections h, NUMBER *x, npy_intp rows, npy_intp step, int transposed,
          NUMBER *memory)
{
    npy_intp blocks = (h.count + TOGETHER - 1) / TOGETHER;
    for (npy_intp done = 0; done < blocks; done++) {
        npy_intp first = TOGETHER * (transposed ? blocks - 1 - done : done);
        npy_intp count = least(h.count - first, TOGETHER);
        npy_intp start = line_of(zeros_before(h.vectors + first * h.step, h.n));
        reflections some = {h.vectors + first * h.step + start, h.factors + first, count, h.n - start, h.step};
        if (count <= FEW) {
            turn_one_by_one(some, x + start, rows, step, transposed);
        } else {
            turn_block(algebra, some, x + start, rows, step, transposed, memory);
        }
    }
}

#undef LOAD
