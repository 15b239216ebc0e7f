/* The inner loops of correlation.c; instruction_sets/each_kernel.h says what REAL, NAME and the rest are. */

/* ---- many channels of the output: vectors of them, times single elements of planes */

/* sums[term][channel] += the sum over some positions of outputs[position][channel] * plane[offsets[term] + position] */
INLINE void
NAME(add_products)(const int terms, const int vectors, const turned *t)
{
    NAME(vector) found[ROWS][2];
    UNROLL
    for (int i = 0; i < terms; i++) {
        UNROLL
        for (int j = 0; j < vectors; j++) {
            found[i][j] = (NAME(vector)){0};
        }
    }
    place at = first_place(t->first_row, t->rows, t->row_step, t->plane_step);
    for (npy_intp row = t->first_row; row < t->last_row; row++, next_place(&at)) {
        const REAL *plane = (const REAL *)t->plane + at.start, *output = (const REAL *)t->outputs;
        output += (row * t->length + t->begin) * t->channels;
        for (npy_intp q = t->begin; q < t->end; q++) {
            NAME(vector) g[2];
            UNROLL
            for (int j = 0; j < vectors; j++) {
                g[j] = ((const NAME(unaligned) *)output)[j];
            }
            UNROLL
            for (int i = 0; i < terms; i++) {
                REAL x = plane[t->offsets[i] + q];
                UNROLL
                for (int j = 0; j < vectors; j++) {
                    found[i][j] += x * g[j];
                }
            }
            output += t->channels;
        }
    }
    NAME(unaligned) *sums = (NAME(unaligned) *)t->sums;
    UNROLL
    for (int i = 0; i < terms; i++) {
        UNROLL
        for (int j = 0; j < vectors; j++) {
            sums[2 * i + j] += found[i][j];
        }
    }
}

INLINE void
NAME(add_tile)(const int vectors, const turned *t)
{
    switch (t->terms) {
#if ROWS == 12
    case 3:
        NAME(add_products)(3, vectors, t);
        break;
    case 6:
        NAME(add_products)(6, vectors, t);
        break;
    case 9:
        NAME(add_products)(9, vectors, t);
        break;
#elif ROWS == 6
    case 2:
        NAME(add_products)(2, vectors, t);
        break;
    case 4:
        NAME(add_products)(4, vectors, t);
        break;
#else
    case 1:
        NAME(add_products)(1, vectors, t);
        break;
    case 2:
        NAME(add_products)(2, vectors, t);
        break;
    case 3:
        NAME(add_products)(3, vectors, t);
        break;
#endif
    default:
        NAME(add_products)(ROWS, vectors, t);
        break;
    }
}

TARGET static void
NAME(add_turned)(const turned *t)
{
    if (t->vectors == 1) {
        NAME(add_tile)(1, t);
    } else {
        NAME(add_tile)(2, t);
    }
}

/* Sums of a tile, to some terms of each of some channels of the weight. */
TARGET static void
NAME(store_tile)(const void *sums, npy_intp terms, npy_intp channels, npy_intp channel_step, void *weight)
{
    for (npy_intp i = 0; i < channels; i++) {
        const REAL *from = (const REAL *)sums + i;
        REAL *to = (REAL *)weight + i * channel_step;
        for (npy_intp j = 0; j < terms; j++) {
            to[j] = from[j * 2 * LANES];
        }
    }
}

/* Rows of an output, a channel after the other, to [position][channel]; missing channels are zeros. */
TARGET static void
NAME(turn_row)(const void *output, npy_intp length, npy_intp channels, npy_intp channel_step, npy_intp width, void *to)
{
    REAL *line = to;
    for (npy_intp q = 0; q < length; q++) {
        const REAL *from = (const REAL *)output + q;
        for (npy_intp i = 0; i < channels; i++) {
            line[i] = from[i * channel_step];
        }
        for (npy_intp i = channels; i < width; i++) {
            line[i] = 0;
        }
        line += width;
    }
}

/* ---- few channels: sums over vectors of positions */

INLINE REAL
NAME(total)(NAME(vector) sums)
{
#if defined(__GNUC__) || defined(__clang__)
    REAL lanes[LANES];
    memcpy(lanes, &sums, sizeof(lanes));
    UNROLL
    for (int half = LANES / 2; half > 0; half /= 2) {
        UNROLL
        for (int i = 0; i < half; i++) {
            lanes[i] += lanes[i + half];
        }
    }
    return lanes[0];
#else
    return sums;
#endif
}

/* A vector of which lanes from `n` on are zero.  Products are not enough: what lies there may be infinite. */
INLINE NAME(vector)
NAME(first_lanes)(NAME(vector) values, npy_intp n)
{
#if defined(__GNUC__) || defined(__clang__)
    const char *middle = sizeof(REAL) == 4 ? (const char *)(masks_of_floats + 16) : (const char *)(masks_of_doubles + 8);
    return (NAME(vector))((NAME(mask))values & *(const NAME(mask) *)(middle - n * (npy_intp)sizeof(REAL)));
#else
    (void)n;
    return values;
#endif
}

/* A vector of positions of each channel and term: whole ones, or the first `n` of one. */
INLINE void
NAME(add_vector)(const int height, const int terms, NAME(vector) (*sums)[9], const REAL *const *from, npy_intp at,
                 const REAL *output, npy_intp output_step, npy_intp n)
{
    NAME(vector) g[4];
    UNROLL
    for (int i = 0; i < height; i++) {
        g[i] = *(const NAME(unaligned) *)(output + i * output_step);
    }
    UNROLL
    for (int j = 0; j < terms; j++) {
        NAME(vector) x = *(const NAME(unaligned) *)(from[j] + at);
        x = n == LANES ? x : NAME(first_lanes)(x, n);
        UNROLL
        for (int i = 0; i < height; i++) {
            sums[i][j] += g[i] * x;
        }
    }
}

/* Adds to weight[i][j] the sum over the positions of output[i][position] * plane[offsets[j] + position], for some rows
 * of one image.  Rows of the output are padded with zeros to whole vectors. */
INLINE void
NAME(correlate)(const int height, const int terms, const correlation *c, npy_intp first_term)
{
    NAME(vector) sums[4][9];
    const REAL *from[9];
    npy_intp n_terms = smaller(terms, c->n_terms - first_term), whole = c->length / LANES * LANES;
    UNROLL
    for (int j = 0; j < terms; j++) {
        from[j] = (const REAL *)c->plane + c->offsets[first_term + (j < n_terms ? j : 0)];
        UNROLL
        for (int i = 0; i < height; i++) {
            sums[i][j] = (NAME(vector)){0};
        }
    }
    place at = first_place(c->first_row, c->rows, c->row_step, c->plane_step);
    for (npy_intp row = c->first_row; row < c->last_row; row++, next_place(&at)) {
        const REAL *output = (const REAL *)c->output + row * c->padded_length;
        for (npy_intp q = 0; q < whole; q += LANES) {
            NAME(add_vector)(height, terms, sums, from, at.start + q, output + q, c->output_step, LANES);
        }
        if (whole < c->length) {
            NAME(add_vector)(height, terms, sums, from, at.start + whole, output + whole, c->output_step,
                             c->length - whole);
        }
    }
    REAL *weight = (REAL *)c->weight + first_term;
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < n_terms; j++) {
            weight[i * c->weight_step + j] += NAME(total)(sums[i][j]);
        }
    }
}

/* As many terms at once as there are registers for. */
TARGET static void
NAME(correlate_rows)(const correlation *c)
{
    const npy_intp at_once = c->height == 1 ? 9 : c->height == 2 ? 6 : 3;
    for (npy_intp term = 0; term < c->n_terms; term += at_once) {
        switch (c->height) {
        case 1:
            NAME(correlate)(1, 9, c, term);
            break;
        case 2:
            NAME(correlate)(2, 6, c, term);
            break;
        case 3:
            NAME(correlate)(3, 3, c, term);
            break;
        default:
            NAME(correlate)(4, 3, c, term);
            break;
        }
    }
}

static const kernels NAME(kernels) = {
    LANES, ROWS, NAME(turn_row), NAME(add_turned), NAME(store_tile), NAME(correlate_rows),
};
