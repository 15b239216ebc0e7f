#include "transposed.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <string.h>

/* Note [Transposed copies]
 *
 * A copy that walks its output in order reads one element of each cache line of a transposed source, and where rows are
 * a power of two of bytes apart all of those lines want the same few places of the cache: each is fetched again for each
 * of its elements.  So a tile is copied at a time, and a tile in two steps.  Eight rows of the source, as many as a cache
 * has places, are read to their end and laid across a buffer; rows of the buffer, which are parts of rows of the output,
 * are then moved as wholes.
 *
 *     source   rows x columns, columns next to each other
 *     buffer   columns x rows
 *     output   columns x rows, rows next to each other
 */

#define ROWS 128       /* of a tile: half a kilobyte and more of the output at once */
#define ROW_BYTES 256  /* of a tile: four cache lines of the source */
#define EIGHT 8
#define SMALL_PLANE 64 /* elements; tiles of fewer cost more than they spare */

/* ---- rows of the source across the rows of something else */

/* The columns of eight rows that go through vectors; returns their number. */
GS_INLINE npy_intp
no_squares(const char *in, npy_intp in_step, char *out, npy_intp out_step, npy_intp columns)
{
    (void)in, (void)in_step, (void)out, (void)out_step, (void)columns;
    return 0;
}

#if defined(__GNUC__) && !defined(__clang__)
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t any_four __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t two __attribute__((vector_size(16)));
typedef uint64_t any_two __attribute__((vector_size(16), aligned(8), may_alias));

GS_INLINE void
transpose_4_by_4(const char *in, npy_intp in_step, char *out, npy_intp out_step)
{
    four a = *(const any_four *)in, b = *(const any_four *)(in + in_step);
    four c = *(const any_four *)(in + 2 * in_step), d = *(const any_four *)(in + 3 * in_step);
    four ab_low = __builtin_shuffle(a, b, (four){0, 4, 1, 5}), ab_high = __builtin_shuffle(a, b, (four){2, 6, 3, 7});
    four cd_low = __builtin_shuffle(c, d, (four){0, 4, 1, 5}), cd_high = __builtin_shuffle(c, d, (four){2, 6, 3, 7});
    *(any_four *)out = __builtin_shuffle(ab_low, cd_low, (four){0, 1, 4, 5});
    *(any_four *)(out + out_step) = __builtin_shuffle(ab_low, cd_low, (four){2, 3, 6, 7});
    *(any_four *)(out + 2 * out_step) = __builtin_shuffle(ab_high, cd_high, (four){0, 1, 4, 5});
    *(any_four *)(out + 3 * out_step) = __builtin_shuffle(ab_high, cd_high, (four){2, 3, 6, 7});
}

GS_INLINE void
transpose_2_by_2(const char *in, npy_intp in_step, char *out, npy_intp out_step)
{
    two a = *(const any_two *)in, b = *(const any_two *)(in + in_step);
    *(any_two *)out = __builtin_shuffle(a, b, (two){0, 2});
    *(any_two *)(out + out_step) = __builtin_shuffle(a, b, (two){1, 3});
}

#define SQUARES(name, size, width, transpose)                                                      \
    GS_INLINE npy_intp name(const char *in, npy_intp in_step, char *out, npy_intp out_step, npy_intp columns) \
    {                                                                                              \
        npy_intp j = 0;                                                                            \
        for (; j + width <= columns; j += width) {                                                 \
            for (int k = 0; k < EIGHT; k += width) {                                               \
                transpose(in + k * in_step + j * size, in_step, out + j * out_step + k * size, out_step); \
            }                                                                                      \
        }                                                                                          \
        return j;                                                                                  \
    }

SQUARES(squares_of_4_bytes, 4, 4, transpose_4_by_4)
SQUARES(squares_of_8_bytes, 8, 2, transpose_2_by_2)
#else
#define squares_of_4_bytes no_squares
#define squares_of_8_bytes no_squares
#endif

/* Two numbers of eight bytes, as a complex one has them. */
typedef struct {
    uint64_t first, second;
} pair;

#define LAY_ACROSS(name, unit, squares)                                                            \
    GS_CLONES static void name(const char *in, npy_intp in_step, char *out, npy_intp out_step, npy_intp rows, \
                               npy_intp columns)                                                   \
    {                                                                                              \
        npy_intp i = 0;                                                                            \
        for (; i + EIGHT <= rows; i += EIGHT) {                                                    \
            const char *row = in + i * in_step;                                                    \
            char *to = out + i * (npy_intp)sizeof(unit);                                           \
            for (npy_intp j = squares(row, in_step, to, out_step, columns); j < columns; j++) {    \
                for (int k = 0; k < EIGHT; k++) {                                                  \
                    ((unit *)(to + j * out_step))[k] = ((const unit *)(row + k * in_step))[j];     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (; i < rows; i++) {                                                                    \
            for (npy_intp j = 0; j < columns; j++) {                                               \
                ((unit *)(out + j * out_step))[i] = ((const unit *)(in + i * in_step))[j];         \
            }                                                                                      \
        }                                                                                          \
    }

LAY_ACROSS(lay_1_byte, uint8_t, no_squares)
LAY_ACROSS(lay_2_bytes, uint16_t, no_squares)
LAY_ACROSS(lay_4_bytes, uint32_t, squares_of_4_bytes)
LAY_ACROSS(lay_8_bytes, uint64_t, squares_of_8_bytes)
LAY_ACROSS(lay_16_bytes, pair, no_squares)

typedef void (*lay_function)(const char *in, npy_intp in_step, char *out, npy_intp out_step, npy_intp rows,
                             npy_intp columns);

static lay_function
lay_of(npy_intp size)
{
    switch (size) {
    case 1: return lay_1_byte;
    case 2: return lay_2_bytes;
    case 4: return lay_4_bytes;
    case 8: return lay_8_bytes;
    case 16: return lay_16_bytes;
    }
    return NULL;
}

void
gs_lay_across(npy_intp size, const void *in, npy_intp in_step, void *out, npy_intp out_step, npy_intp rows,
              npy_intp columns)
{
    (size == 4 ? lay_4_bytes : lay_8_bytes)(in, in_step, out, out_step, rows, columns);
}

/* ---- all tiles */

typedef struct {
    const gs_iteration *it;
    lay_function lay;
    int along;                       /* the dimension whose elements are next to each other in the source */
    npy_intp size;
    npy_intp rows, columns;          /* of a plane */
    npy_intp row_tiles, column_tiles;
} transposed_copy;

static void
copy_tile(const transposed_copy *c, const char *in, char *out, npy_intp rows, npy_intp columns)
{
    pair buffer[ROWS * ROW_BYTES / sizeof(pair)];
    npy_intp in_step = c->it->strides[0][0], out_step = c->it->strides[1][c->along], buffer_step = ROWS * c->size;
    if (rows < EIGHT) {
        c->lay(in, in_step, out, out_step, rows, columns); /* there would be little to move at once */
        return;
    }
    c->lay(in, in_step, (char *)buffer, buffer_step, rows, columns);
    for (npy_intp j = 0; j < columns; j++) {
        memcpy(out + j * out_step, (const char *)buffer + j * buffer_step, (size_t)(rows * c->size));
    }
}

/* Where a plane begins in both operands. */
static void
find_plane(const transposed_copy *c, npy_intp number, const char **in, char **out)
{
    const gs_iteration *it = c->it;
    *in = it->data[0];
    *out = it->data[1];
    for (int d = 1; d < it->nd; d++) {
        if (d == c->along) {
            continue;
        }
        *in += number % it->dims[d] * it->strides[0][d];
        *out += number % it->dims[d] * it->strides[1][d];
        number /= it->dims[d];
    }
}

static void
copy_tiles(void *context, npy_intp first, npy_intp last)
{
    const transposed_copy *c = context;
    npy_intp columns_at_once = ROW_BYTES / c->size;
    for (npy_intp tile = first; tile < last; tile++) {
        const char *in;
        char *out;
        npy_intp j = tile % c->column_tiles * columns_at_once;
        npy_intp i = tile / c->column_tiles % c->row_tiles * ROWS;
        find_plane(c, tile / c->column_tiles / c->row_tiles, &in, &out);
        copy_tile(c, in + i * c->it->strides[0][0] + j * c->size, out + j * c->it->strides[1][c->along] + i * c->size,
                  Py_MIN(ROWS, c->rows - i), Py_MIN(columns_at_once, c->columns - j));
    }
}

/* The dimension along which the source has its elements next to each other, if the output has them along another. */
static int
other_inner_dim(const gs_iteration *it, npy_intp size)
{
    if (it->strides[1][0] != size || it->strides[0][0] == size) {
        return 0;
    }
    for (int d = 1; d < it->nd; d++) {
        if (it->strides[0][d] == size && it->dims[0] * it->dims[d] >= SMALL_PLANE) {
            return d;
        }
    }
    return 0;
}

int
gs_copy_transposed(const gs_iteration *it, npy_intp size)
{
    transposed_copy c = {it, lay_of(size), other_inner_dim(it, size), size, it->dims[0], 0, 0, 0};
    if (c.lay == NULL || c.along == 0 || it->size == 0) {
        return 0;
    }
    npy_intp columns_at_once = ROW_BYTES / size;
    c.columns = it->dims[c.along];
    c.row_tiles = (c.rows + ROWS - 1) / ROWS;
    c.column_tiles = (c.columns + columns_at_once - 1) / columns_at_once;
    npy_intp planes = it->size / (c.rows * c.columns);
    gs_parallel(copy_tiles, &c, planes * c.row_tiles * c.column_tiles, ROWS * columns_at_once, 1);
    return 1;
}
