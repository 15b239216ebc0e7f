/* The inner loops of convolution.c for one type and one instruction set: REAL, BYTES of a vector, ROWS of most panels,
 * and NAME(x), which adds the suffix of both; TARGET is the attribute of the instruction set. */

#if defined(__GNUC__) || defined(__clang__)
#define LANES ((int)(BYTES / sizeof(REAL)))
typedef REAL NAME(vector) __attribute__((vector_size(BYTES)));
typedef REAL NAME(unaligned) __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
typedef INTEGER NAME(mask) __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE TARGET static inline __attribute__((always_inline))
#else
#define LANES 1
typedef REAL NAME(vector);
typedef REAL NAME(unaligned);
#define UNROLL
#define INLINE static inline
#endif
#define WIDTH (2 * LANES)

/* ---- products: panels of weights times positions */

/* sums[i][0..WIDTH) = or += the sum over the terms of panel[term][i] * base[offsets[term] ...] */
INLINE void
NAME(multiply)(const int height, const REAL *panel, const REAL *base, const npy_intp *offsets, npy_intp n_terms,
               REAL *sums, npy_intp sums_row, int add)
{
    NAME(vector) left[ROWS], right[ROWS];
    UNROLL
    for (int i = 0; i < height; i++) {
        left[i] = (NAME(vector)){0};
        right[i] = (NAME(vector)){0};
    }
    for (npy_intp term = 0; term < n_terms; term++) {
        const NAME(unaligned) *from = (const NAME(unaligned) *)(base + offsets[term]);
        NAME(vector) b0 = from[0], b1 = from[1];
        UNROLL
        for (int i = 0; i < height; i++) {
            left[i] += panel[i] * b0;
            right[i] += panel[i] * b1;
        }
        panel += height;
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(unaligned) *to = (NAME(unaligned) *)(sums + i * sums_row);
        to[0] = add ? to[0] + left[i] : left[i];
        to[1] = add ? to[1] + right[i] : right[i];
    }
}

/* A tile of positions stays in L1 while all panels are multiplied with it. */
INLINE void
NAME(multiply_tiles)(const int height, const product *p)
{
    npy_intp row = p->n_tiles * WIDTH;
    for (npy_intp first = 0; first < p->n_terms; first += TERMS) {
        npy_intp n = p->n_terms - first < TERMS ? p->n_terms - first : TERMS;
        for (npy_intp tile = 0; tile < p->n_tiles; tile++) {
            const REAL *base = (const REAL *)p->base + tile * WIDTH;
            for (npy_intp i = 0; i < p->n_panels; i++) {
                const REAL *panel = (const REAL *)p->panels + (i * p->n_terms + first) * height;
                REAL *sums = (REAL *)p->sums + i * height * row + tile * WIDTH;
                NAME(multiply)(height, panel, base, p->offsets + first, n, sums, row, first > 0);
            }
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

/* ---- correlations: sums over positions, for the gradient of the weight */

INLINE REAL
NAME(total)(NAME(vector) sums)
{
#if defined(__GNUC__) || defined(__clang__)
    REAL result = 0;
    UNROLL
    for (int i = 0; i < LANES; i++) {
        result += sums[i];
    }
    return result;
#else
    return sums;
#endif
}

/* A vector of which lanes from `n` on are zero.  Products are not enough: what lies there may be infinite. */
INLINE NAME(vector)
NAME(first_lanes)(NAME(vector) values, npy_intp n)
{
#if defined(__GNUC__) || defined(__clang__)
    const INTEGER *middle = MASKS + sizeof(MASKS) / sizeof(INTEGER) / 2;
    return (NAME(vector))((NAME(mask))values & *(const NAME(mask) *)(middle - n));
#else
    (void)n;
    return values;
#endif
}

/* Adds to weight[i][j] the sum over the positions of output[i][position] * plane[offsets[j] + position], for some rows
 * of one image.  Rows of the output are padded with zeros to whole vectors. */
INLINE void
NAME(correlate)(const int height, const correlation *c, const REAL *output, const REAL *plane, const npy_intp *offsets,
                npy_intp n_terms, REAL *weight)
{
    NAME(vector) sums[TILE_ROWS][TILE_TERMS];
    const REAL *from[TILE_TERMS];
    npy_intp whole = c->length / LANES * LANES;
    UNROLL
    for (int j = 0; j < TILE_TERMS; j++) {
        from[j] = plane + offsets[j < n_terms ? j : 0];
        UNROLL
        for (int i = 0; i < height; i++) {
            sums[i][j] = (NAME(vector)){0};
        }
    }
    for (npy_intp row = c->first_row; row < c->last_row; row++) {
        npy_intp start = row / c->rows * c->plane_step + row % c->rows * c->row_step;
        const REAL *wanted = output + row * c->padded_length;
        for (npy_intp q = 0; q < whole; q += LANES) {
            NAME(vector) x[TILE_TERMS];
            UNROLL
            for (int j = 0; j < TILE_TERMS; j++) {
                x[j] = *(const NAME(unaligned) *)(from[j] + start + q);
            }
            UNROLL
            for (int i = 0; i < height; i++) {
                NAME(vector) g = *(const NAME(unaligned) *)(wanted + i * c->output_step + q);
                UNROLL
                for (int j = 0; j < TILE_TERMS; j++) {
                    sums[i][j] += g * x[j];
                }
            }
        }
        if (whole < c->length) {
            NAME(vector) x[TILE_TERMS];
            UNROLL
            for (int j = 0; j < TILE_TERMS; j++) {
                x[j] = NAME(first_lanes)(*(const NAME(unaligned) *)(from[j] + start + whole), c->length - whole);
            }
            UNROLL
            for (int i = 0; i < height; i++) {
                NAME(vector) g = *(const NAME(unaligned) *)(wanted + i * c->output_step + whole);
                UNROLL
                for (int j = 0; j < TILE_TERMS; j++) {
                    sums[i][j] += g * x[j];
                }
            }
        }
    }
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < n_terms; j++) {
            weight[i * c->weight_step + j] += NAME(total)(sums[i][j]);
        }
    }
}

TARGET static void
NAME(correlate_rows)(const correlation *c)
{
    for (npy_intp j = 0; j < c->n_terms; j += TILE_TERMS) {
        npy_intp n = c->n_terms - j < TILE_TERMS ? c->n_terms - j : TILE_TERMS;
        const REAL *output = (const REAL *)c->output, *plane = (const REAL *)c->plane;
        REAL *weight = (REAL *)c->weight + j;
        switch (c->height) {
        case 1:
            NAME(correlate)(1, c, output, plane, c->offsets + j, n, weight);
            break;
        case 2:
            NAME(correlate)(2, c, output, plane, c->offsets + j, n, weight);
            break;
        case 3:
            NAME(correlate)(3, c, output, plane, c->offsets + j, n, weight);
            break;
        default:
            NAME(correlate)(4, c, output, plane, c->offsets + j, n, weight);
            break;
        }
    }
}

static const kernels NAME(kernels) = {WIDTH, LANES, ROWS, NAME(multiply_block), NAME(correlate_rows)};

#undef LANES
#undef WIDTH
#undef UNROLL
#undef INLINE
