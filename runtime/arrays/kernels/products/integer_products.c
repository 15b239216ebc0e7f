/* Note [Products of integers]
 *
 * NumPy multiplies matrices of integers element by element.  Here some columns of b, as many as fill a cache line, are
 * laid out as a panel, padded with zeros, and a tile of a few rows by these columns is summed in registers:
 *
 *     c tile  [row][column]  +=  a[row][k] * panel[k][column]
 *
 * Numbers without a sign wrap around as those with one do, whose overflow C leaves undefined.
 */
#include "products/integer_products.h"
#include "support/simd.h"

#include <string.h>

#define PANEL 64  /* bytes of a row of a panel */
#define DEPTH 256 /* rows of a panel */
#define ROWS 4    /* of a tile */

/* One product, without the count of the gufunc's call: sizes, and strides in bytes. */
typedef struct {
    const char *a, *b;
    char *c;
    npy_intp m, k, n;
    npy_intp a_row, a_column, b_row, b_column, c_row;
} integer_product;

#define PRODUCTS(NAME, TYPE)                                                                                          \
    enum { COLUMNS_##NAME = PANEL / sizeof(TYPE) };                                                                   \
                                                                                                                      \
    GS_INLINE void pack_##NAME(const integer_product *p, npy_intp depth, npy_intp k, npy_intp column, TYPE *panel)    \
    {                                                                                                                 \
        npy_intp columns = p->n - column < COLUMNS_##NAME ? p->n - column : COLUMNS_##NAME;                           \
        for (npy_intp i = 0; i < depth; i++) {                                                                        \
            const char *row = p->b + (k + i) * p->b_row + column * p->b_column;                                       \
            for (npy_intp j = 0; j < COLUMNS_##NAME; j++) {                                                           \
                panel[i * COLUMNS_##NAME + j] = j < columns ? *(const TYPE *)(row + j * p->b_column) : 0;             \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    /* Of `height` rows of a from `row` on; begins with what is in c unless k is 0. */                                \
    GS_INLINE void tile_##NAME(const int height, const integer_product *p, npy_intp depth, npy_intp k, npy_intp row,  \
                               npy_intp column, const TYPE *panel)                                                    \
    {                                                                                                                 \
        size_t columns = (size_t)(p->n - column < COLUMNS_##NAME ? p->n - column : COLUMNS_##NAME);                   \
        TYPE sums[ROWS][COLUMNS_##NAME] = {{0}};                                                                      \
        for (int r = 0; r < height && k > 0; r++) {                                                                   \
            memcpy(sums[r], p->c + (row + r) * p->c_row + column * (npy_intp)sizeof(TYPE), columns * sizeof(TYPE));   \
        }                                                                                                             \
        const char *a = p->a + row * p->a_row + k * p->a_column;                                                      \
        for (npy_intp i = 0; i < depth; i++, a += p->a_column, panel += COLUMNS_##NAME) {                             \
            for (int r = 0; r < height; r++) {                                                                        \
                TYPE factor = *(const TYPE *)(a + r * p->a_row);                                                      \
                GS_VECTOR for (int j = 0; j < COLUMNS_##NAME; j++)                                                    \
                {                                                                                                     \
                    sums[r][j] = (TYPE)(sums[r][j] + 1u * factor * panel[j]); /* no int, which overflows */ \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
        for (int r = 0; r < height; r++) {                                                                            \
            memcpy(p->c + (row + r) * p->c_row + column * (npy_intp)sizeof(TYPE), sums[r], columns * sizeof(TYPE));   \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    GS_CLONES static void multiply_##NAME(const integer_product *p)                                                   \
    {                                                                                                                 \
        TYPE panel[DEPTH * COLUMNS_##NAME];                                                                           \
        for (npy_intp column = 0; column < p->n; column += COLUMNS_##NAME) {                                          \
            for (npy_intp k = 0; k < p->k; k += DEPTH) {                                                              \
                npy_intp depth = p->k - k < DEPTH ? p->k - k : DEPTH, row = 0;                                        \
                pack_##NAME(p, depth, k, column, panel);                                                              \
                for (; row + ROWS <= p->m; row += ROWS) {                                                             \
                    tile_##NAME(ROWS, p, depth, k, row, column, panel);                                               \
                }                                                                                                     \
                for (; row < p->m; row++) {                                                                           \
                    tile_##NAME(1, p, depth, k, row, column, panel);                                                  \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    static void matmul_##NAME(char **args, const npy_intp *dims, const npy_intp *strides, void *data)                 \
    {                                                                                                                 \
        integer_product p = {args[0],    args[1],    args[2],    dims[1],    dims[2],   dims[3],                      \
                             strides[3], strides[4], strides[5], strides[6], strides[7]};                             \
        (void)data;                                                                                                   \
        for (npy_intp i = 0; i < dims[0]; i++, p.a += strides[0], p.b += strides[1], p.c += strides[2]) {             \
            multiply_##NAME(&p);                                                                                      \
        }                                                                                                             \
    }

PRODUCTS(bytes, uint8_t)
PRODUCTS(shorts, uint16_t)
PRODUCTS(words, uint32_t)
PRODUCTS(long_words, uint64_t)

gs_loop_function
gs_integer_matmul(int type)
{
    if (type < 0 || gs_category_of(type) != GS_INT) {
        return NULL;
    }
    switch (gs_itemsize[type]) {
    case 1: return matmul_bytes;
    case 2: return matmul_shorts;
    case 4: return matmul_words;
    default: return matmul_long_words;
    }
}
