#include "tiles.h"
#include "gathering.h"
#include "threads/thread_pool.h"

#define SHORT 256        /* elements of rows that are gathered */
#define TILE_BYTES 4096 /* of an operand */

typedef struct {
    const gs_iteration *it;
    const gs_loop *loop;
    npy_intp tile; /* elements */
    gs_operand_kind kinds[GS_MAX_OPERANDS];
    npy_intp strides[GS_MAX_OPERANDS]; /* of what the loop gets */
} tiling;

static void
run_tile(const tiling *t, npy_intp first, npy_intp n, char (*tiles)[TILE_BYTES])
{
    const gs_iteration *it = t->it;
    char *args[GS_MAX_OPERANDS];
    for (int i = 0; i < it->n_operands; i++) {
        if (t->kinds[i] == GS_OTHER) {
            gs_gather(it, i, first, n, tiles[i]);
            args[i] = tiles[i];
        } else {
            args[i] = it->data[i] + first * t->strides[i];
        }
    }
    t->loop->run(args, &n, t->strides, t->loop->data);
}

/* Elements first..last. */
static void
run_tiles(void *context, npy_intp first, npy_intp last)
{
    const tiling *t = context;
    _Alignas(64) char tiles[GS_MAX_OPERANDS - 1][TILE_BYTES];
    for (; first < last; first += t->tile) {
        run_tile(t, first, Py_MIN(t->tile, last - first), tiles);
    }
}

static void
run_in_tiles(const gs_iteration *it, const gs_loop *loop)
{
    tiling t = {it, loop, 0, {GS_FLAT}, {0}};
    npy_intp largest = 1;
    for (int i = 0; i < it->n_operands; i++) {
        t.kinds[i] = gs_kind_of(it, i);
        t.strides[i] = t.kinds[i] == GS_CONSTANT ? 0 : it->sizes[i];
        largest = Py_MAX(largest, it->sizes[i]);
    }
    t.tile = TILE_BYTES / largest;
    gs_parallel(run_tiles, &t, it->size, loop->cost + 1, 64);
}

void
gs_run_elementwise(gs_iteration *it, const gs_loop *loop)
{
    int is_short = it->nd > 1 && it->dims[0] <= SHORT && it->size > 0;
    if (is_short && !gs_has_loop_of_rows(it, loop) && gs_kind_of(it, it->n_operands - 1) == GS_FLAT) {
        run_in_tiles(it, loop);
    } else {
        gs_iteration_run(it, loop);
    }
}
