/* Note [Distances between rows]
 *
 * A distance is summed from the differences themselves.  |a|^2 + |b|^2 - 2 a b would be a matrix product, but between rows
 * that lie near each other most digits of it are lost.
 *
 * The other rows are packed in panels: for distances, [panel][column][other], so that a tile of HEIGHT rows times VECTORS
 * vectors of others stays in registers while it goes through the columns; for gradients, [panel][other][column], and a tile
 * of HEIGHT rows times a vector of columns goes through the others.  Nothing is as large as the differences.
 */
#include "row_distances_kernels.h"
#include "support/simd.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEIGHT = 4,
    VECTORS = 2,
    BLOCK = 256, /* terms of a sum before it is added to a total */
    PIECE = 32   /* rows */
};

typedef struct {
    npy_intp others_of_panel, columns_of_panel;
    void (*measure)(const gs_distances *d, const void *rows, npy_intp n_rows, const void *panels, void *to);
    void (*add_steps)(const gs_distances *d, npy_intp at, const void *rows, npy_intp n_rows, const void *panels, void *to);
} kernels;

#define KERNELS "runtime/arrays/functions/distances/row_distances_template.h"
#include "instruction_sets/each_kernel.h"
#undef KERNELS

/* ---- panels */

/* Panels of `width` items that are `item` elements apart, each of `n_steps` steps; what a last panel has too many are zeros. */
#define PACK(name, real)                                                                                              \
    static void name(real *to, npy_intp width, const real *from, npy_intp n_items, npy_intp item, npy_intp n_steps,   \
                     npy_intp step)                                                                                   \
    {                                                                                                                 \
        for (npy_intp first = 0; first < n_items; first += width) {                                                   \
            npy_intp here = n_items - first < width ? n_items - first : width;                                        \
            for (npy_intp k = 0; k < n_steps; k++) {                                                                  \
                const real *source = from + k * step + first * item;                                                  \
                for (npy_intp i = 0; i < width; i++) {                                                                \
                    *to++ = i < here ? source[i * item] : 0;                                                          \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
    }

PACK(pack_floats, float)
PACK(pack_doubles, double)

static npy_intp
size_of(int type)
{
    return type == NPY_FLOAT32 ? 4 : 8;
}

/* The bytes of the panels of one batch. */
static npy_intp
panels_of_batch(const gs_distances *d)
{
    const kernels *k = BEST_KERNELS(kernels, d->type);
    npy_intp width = d->weights == NULL ? k->others_of_panel : k->columns_of_panel;
    npy_intp items = d->weights == NULL ? d->n_others : d->width, steps = d->weights == NULL ? d->width : d->n_others;
    return (items + width - 1) / width * width * steps * size_of(d->type);
}

static void
pack_batch(const gs_distances *d, npy_intp batch)
{
    const kernels *k = BEST_KERNELS(kernels, d->type);
    const char *others = d->others + batch * d->n_others * d->width * size_of(d->type);
    char *to = d->panels + batch * panels_of_batch(d);
    int by_others = d->weights == NULL;
    npy_intp width = by_others ? k->others_of_panel : k->columns_of_panel;
    npy_intp n_items = by_others ? d->n_others : d->width, item = by_others ? d->width : 1;
    npy_intp n_steps = by_others ? d->width : d->n_others, step = by_others ? 1 : d->width;
    if (d->type == NPY_FLOAT32) {
        pack_floats((float *)to, width, (const float *)others, n_items, item, n_steps, step);
    } else {
        pack_doubles((double *)to, width, (const double *)others, n_items, item, n_steps, step);
    }
}

int
gs_begin_distances(gs_distances *d)
{
    d->memory = malloc((size_t)(d->n_batches * panels_of_batch(d)) + 64);
    if (d->memory == NULL) {
        return 0;
    }
    d->panels = d->memory + (64 - (uintptr_t)d->memory % 64);
    for (npy_intp batch = 0; batch < d->n_batches; batch++) {
        pack_batch(d, batch);
    }
    return 1;
}

void
gs_end_distances(gs_distances *d)
{
    free(d->memory);
    d->memory = d->panels = NULL;
}

/* ---- pieces: some rows of a batch */

static npy_intp
pieces_of_batch(const gs_distances *d)
{
    return (d->n_rows + PIECE - 1) / PIECE;
}

npy_intp
gs_distance_pieces(const gs_distances *d)
{
    return d->n_batches * pieces_of_batch(d);
}

static void
run_piece(const gs_distances *d, npy_intp batch, npy_intp row)
{
    const kernels *k = BEST_KERNELS(kernels, d->type);
    npy_intp n_rows = d->n_rows - row < PIECE ? d->n_rows - row : PIECE, size = size_of(d->type);
    npy_intp at = batch * d->n_rows + row;
    const char *rows = d->rows + at * d->width * size, *panels = d->panels + batch * panels_of_batch(d);
    if (d->weights == NULL) {
        k->measure(d, rows, n_rows, panels, d->to + at * d->n_others * size);
    } else {
        npy_intp weight = batch * d->n_rows * d->n_others + row * d->to_row;
        k->add_steps(d, weight, rows, n_rows, panels, d->to + at * d->width * size);
    }
}

void
gs_run_distances(void *context, npy_intp first, npy_intp last)
{
    const gs_distances *d = context;
    npy_intp per_batch = pieces_of_batch(d);
    for (npy_intp piece = first; piece < last; piece++) {
        run_piece(d, piece / per_batch, piece % per_batch * PIECE);
    }
}
