/* The inner loops of convolution.c; instruction_sets/each_kernel.h says what REAL, NAME and the rest are. */

#define WIDTH (2 * LANES)

/* ---- products: panels of weights times positions */

/* Of some tiles next to one another, of two vectors each:
 * sums[i][...] = or += the sum over the terms of panel[term][i] * base[offsets[term] ...] */
INLINE void
NAME(multiply)(const int height, const int vectors, const REAL *panel, const REAL *base, const npy_intp *offsets,
               npy_intp n_terms, REAL *sums, npy_intp sums_row, int add)
{
    NAME(vector) found[ROWS][8];
    UNROLL
    for (int i = 0; i < height; i++) {
        UNROLL
        for (int j = 0; j < vectors; j++) {
            found[i][j] = (NAME(vector)){0};
        }
    }
    for (npy_intp term = 0; term < n_terms; term++) {
        const NAME(unaligned) *from = (const NAME(unaligned) *)(base + offsets[term]);
        NAME(vector) b[8];
        UNROLL
        for (int j = 0; j < vectors; j++) {
            b[j] = from[j];
        }
        UNROLL
        for (int i = 0; i < height; i++) {
            UNROLL
            for (int j = 0; j < vectors; j++) {
                found[i][j] += panel[i] * b[j];
            }
        }
        panel += height;
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(unaligned) *to = (NAME(unaligned) *)(sums + i * sums_row);
        UNROLL
        for (int j = 0; j < vectors; j++) {
            to[j] = add ? to[j] + found[i][j] : found[i][j];
        }
    }
}

/* All panels, with some tiles next to one another. */
INLINE void
NAME(multiply_tile)(const int height, const int tiles, const product *p, npy_intp tile, npy_intp first,
                    npy_intp n_terms)
{
    npy_intp row = p->n_tiles * WIDTH;
    const REAL *base = (const REAL *)p->base + tile * WIDTH;
    for (npy_intp i = 0; i < p->n_panels; i++) {
        const REAL *panel = (const REAL *)p->panels + (i * p->n_terms + first) * height;
        REAL *sums = (REAL *)p->sums + i * height * row + tile * WIDTH;
        NAME(multiply)(height, 2 * tiles, panel, base, p->offsets + first, n_terms, sums, row, first > 0);
    }
}

/* A tile of positions stays in L1 while all panels are multiplied with it.  A few rows have not enough sums to keep the
 * units for products busy, and take several tiles at once. */
INLINE void
NAME(multiply_tiles)(const int height, const product *p)
{
    const int together = height == 1 ? 4 : height <= ROWS / 4 ? 2 : 1;
    for (npy_intp first = 0; first < p->n_terms; first += TERMS) {
        npy_intp n = smaller(p->n_terms - first, TERMS), tile = 0;
        for (; tile + together <= p->n_tiles; tile += together) {
            NAME(multiply_tile)(height, together, p, tile, first, n);
        }
        if (together == 4 && tile + 2 <= p->n_tiles) {
            NAME(multiply_tile)(height, 2, p, tile, first, n);
            tile += 2;
        }
        for (; tile < p->n_tiles; tile++) {
            NAME(multiply_tile)(height, 1, p, tile, first, n);
        }
    }
}

TARGET static void
NAME(multiply_block)(const product *p)
{
    switch (p->height) {
    case 1:
        NAME(multiply_tiles)(1, p);
        break;
    case 2:
        NAME(multiply_tiles)(2, p);
        break;
    case 3:
        NAME(multiply_tiles)(3, p);
        break;
    case 4:
        NAME(multiply_tiles)(4, p);
        break;
#if ROWS > 4
    case 5:
        NAME(multiply_tiles)(5, p);
        break;
    case 6:
        NAME(multiply_tiles)(6, p);
        break;
#endif
#if ROWS > 6
    case 7:
        NAME(multiply_tiles)(7, p);
        break;
    case 8:
        NAME(multiply_tiles)(8, p);
        break;
    case 9:
        NAME(multiply_tiles)(9, p);
        break;
    case 10:
        NAME(multiply_tiles)(10, p);
        break;
    case 11:
        NAME(multiply_tiles)(11, p);
        break;
    case 12:
        NAME(multiply_tiles)(12, p);
        break;
#endif
    }
}

/* ---- sums to the result */

/* n numbers; where there are enough for a vector, the last one takes numbers again that the one before it took. */
INLINE void
NAME(store_numbers)(const REAL *from, REAL bias, REAL *to, npy_intp n)
{
    npy_intp i = 0;
    for (; i + LANES <= n; i += LANES) {
        *(NAME(unaligned) *)(to + i) = *(const NAME(unaligned) *)(from + i) + bias;
    }
    if (i < n && n >= LANES) {
        *(NAME(unaligned) *)(to + n - LANES) = *(const NAME(unaligned) *)(from + n - LANES) + bias;
        return;
    }
    for (; i < n; i++) {
        to[i] = from[i] + bias;
    }
}

/* Sums of positions `first` to `last` in the order of planes, to one channel of the result: what lies between rows of
 * the result is left out. */
INLINE void
NAME(store_channel)(const run *r, const REAL *sums, npy_intp first, npy_intp last, REAL bias, REAL *result)
{
    npy_intp row_length = r->layout.extent[2], rows = r->layout.extent[1];
    npy_intp row = first / row_length, begin = first % row_length, plane = row / rows, second = row % rows;
    for (npy_intp position = first; position < last; begin = 0) {
        npy_intp end = smaller(row_length, begin + last - position), n = smaller(end, r->grid[2]) - begin;
        if (second < r->grid[1] && n > 0) {
            npy_intp result_row = (r->start[0] + plane * r->step[0]) * r->result[1] + r->start[1] + second * r->step[1];
            REAL *to = result + result_row * r->result[2] + r->start[2] + begin * r->step[2];
            if (r->step[2] == 1) {
                NAME(store_numbers)(sums, bias, to, n);
            } else {
                for (npy_intp i = 0; i < n; i++) {
                    to[i * r->step[2]] = sums[i] + bias;
                }
            }
        }
        sums += end - begin;
        position += end - begin;
        second++;
        if (second == rows) {
            second = 0;
            plane++;
        }
    }
}

TARGET static void
NAME(store)(const run *r, const stored *s, const char *sums)
{
    npy_intp size = volume(r->result);
    for (npy_intp i = 0; i < s->n_rows; i++) {
        npy_intp channel = s->group * r->rows + s->first_row + i;
        REAL bias = r->bias == NULL ? 0 : ((const REAL *)r->bias)[channel];
        REAL *to = (REAL *)r->to + (s->image * r->c->groups * r->rows + channel) * size;
        NAME(store_channel)(r, (const REAL *)sums + i * s->sums_row, s->first, s->last, bias, to);
    }
}

static const kernels NAME(kernels) = {WIDTH, LANES, ROWS, NAME(multiply_block), NAME(store)};

#undef WIDTH
