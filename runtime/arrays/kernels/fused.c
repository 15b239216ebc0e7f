/* Runs fused kernels: one loop for a whole formula, over operands of any layout that broadcast together.
 *
 * A kernel wants contiguous rows.  Operands that are not are gathered, a tile at a time, into buffers that stay in L1:
 *
 *     result   [tile][tile][tile] ...          always without gaps
 *     input 0   read in place                  without gaps, or without gaps within the tile
 *     input 1   gathered into buffer 1         strided or broadcast
 *
 * The walk is in the order in which the result lies in memory, see Note [Order of dimensions]: inputs that lie in the
 * same order are one long row with it.  Where an input lies across the result, the rows beside each other are walked
 * together, a tile of each, so that its cache lines are fetched once and not once for each row.
 */
#include "fused.h"
#include "halves.h"
#include "reductions/sum.h"
#include "support/array_cache.h"
#include "support/meta.h"
#include "threads/thread_pool.h"
#include "walks/gathering.h"
#include "walks/order.h"

#define TILE_BYTES 4096
#define SHORT_ROW 192 /* rows below this many elements are gathered across their ends */

typedef struct {
    gs_fused_loop loop;
    const double *scalars;
    npy_intp size; /* of an element */
    int n_inputs;
    int doubles; /* each element of the result is added to itself */
    gs_iteration it;                      /* inputs, then the output */
    gs_operand_kind kinds[GS_FUSED_MAX_INPUTS];
} fused_run;

/* ---- some elements */

GS_CLONES static void
add_to_itself(char *data, npy_intp n, npy_intp size)
{
    if (size == 4) {
        float *x = (float *)data;
        for (npy_intp i = 0; i < n; i++) {
            x[i] += x[i];
        }
    } else {
        double *x = (double *)data;
        for (npy_intp i = 0; i < n; i++) {
            x[i] += x[i];
        }
    }
}

static inline void
run_loop(const fused_run *run, char **args, npy_intp n)
{
    char *out = args[run->n_inputs];
    run->loop(args, run->scalars, n);
    if (run->doubles) {
        add_to_itself(out, n, run->size);
    }
}

/* ---- plain operands */

static void
run_flat(void *context, npy_intp first, npy_intp last)
{
    const fused_run *run = context;
    npy_intp most = run->doubles ? TILE_BYTES / run->size : last - first; /* what is read again should be near */
    for (; first < last; first += most) {
        char *args[GS_MAX_OPERANDS];
        for (int i = 0; i <= run->n_inputs; i++) {
            args[i] = run->it.data[i] + first * run->size;
        }
        run_loop(run, args, Py_MIN(most, last - first));
    }
}

/* ---- tiles */

static void
run_tile(const fused_run *run, npy_intp first, npy_intp n, char (*buffers)[TILE_BYTES], char *out)
{
    const gs_iteration *it = &run->it;
    char *args[GS_MAX_OPERANDS];
    int in_one_row = first % it->dims[0] + n <= it->dims[0];
    for (int i = 0; i < run->n_inputs; i++) {
        if (run->kinds[i] == GS_FLAT) {
            args[i] = it->data[i] + first * run->size;
        } else if (run->kinds[i] == GS_CONSTANT) {
            args[i] = buffers[i];
        } else if (in_one_row && it->strides[i][0] == run->size) {
            args[i] = gs_place_of(it, i, first); /* inside one row, without gaps */
        } else {
            gs_gather(it, i, first, n, buffers[i]);
            args[i] = buffers[i];
        }
    }
    args[run->n_inputs] = out;
    run_loop(run, args, n);
}

static char *
place_of(const fused_run *run, npy_intp element)
{
    return run->it.data[run->n_inputs] + element * run->size;
}

static npy_intp
tiles_in(const fused_run *run, npy_intp n)
{
    npy_intp tile = TILE_BYTES / run->size;
    return (n + tile - 1) / tile;
}

static void
fill_constants(const fused_run *run, char (*buffers)[TILE_BYTES])
{
    for (int i = 0; i < run->n_inputs; i++) {
        if (run->kinds[i] == GS_CONSTANT) {
            gs_repeat_element(buffers[i], run->it.data[i], TILE_BYTES / run->size, run->size);
        }
    }
}

static void
run_tiles(void *context, npy_intp first, npy_intp last)
{
    const fused_run *run = context;
    _Alignas(64) char buffers[GS_FUSED_MAX_INPUTS][TILE_BYTES];
    npy_intp tile = TILE_BYTES / run->size;
    npy_intp row = run->it.dims[0];
    int keeps_to_rows = row >= SHORT_ROW;
    fill_constants(run, buffers);
    while (first < last) {
        npy_intp n = last - first < tile ? last - first : tile;
        npy_intp left_in_row = row - first % row;
        if (keeps_to_rows && n > left_in_row) {
            n = left_in_row;
        }
        run_tile(run, first, n, buffers, place_of(run, first));
        first += n;
    }
}

/* ---- inputs across the result */

/* Tiles first..last: those of the rows beside each other, in the second dimension, come before the next tile of a row. */
static void
run_tiles_across(void *context, npy_intp first, npy_intp last)
{
    const fused_run *run = context;
    _Alignas(64) char buffers[GS_FUSED_MAX_INPUTS][TILE_BYTES];
    npy_intp tile = TILE_BYTES / run->size;
    npy_intp row = run->it.dims[0], n_rows = run->it.dims[1];
    npy_intp tiles_of_row = tiles_in(run, row);
    fill_constants(run, buffers);
    for (npy_intp i = first; i < last; i++) {
        npy_intp column = i / n_rows % tiles_of_row * tile;
        npy_intp element = (i / (n_rows * tiles_of_row) * n_rows + i % n_rows) * row + column;
        run_tile(run, element, Py_MIN(tile, row - column), buffers, place_of(run, element));
    }
}

/* Does an input lie across the result, in rows that are longer than a tile? */
static int
has_input_across(const fused_run *run)
{
    const gs_iteration *it = &run->it;
    if (it->nd < 2 || it->dims[0] <= TILE_BYTES / run->size) {
        return 0;
    }
    for (int i = 0; i < run->n_inputs; i++) {
        npy_intp inner = Py_ABS(it->strides[i][0]), outer = Py_ABS(it->strides[i][1]);
        if (outer != 0 && outer < inner) {
            return 1;
        }
    }
    return 0;
}

/* ---- set-up */

static int
common_float(const gs_fused_kernel *kernel, PyObject *const *inputs)
{
    int type = gs_type(inputs[0]);
    if (type != NPY_FLOAT32 && type != NPY_FLOAT64) {
        return -1;
    }
    for (int i = 0; i < kernel->n_inputs; i++) {
        if (gs_fields(inputs[i])->descr != gs_descr[type]) {
            return -1;
        }
        if (!(gs_fields(inputs[i])->flags & NPY_ARRAY_ALIGNED) && !gs_is_meta(inputs[i])) {
            return -1;
        }
    }
    return type;
}

static int
all_plain_and_alike(const gs_fused_kernel *kernel, PyObject *const *inputs)
{
    if (!gs_is_plain(inputs[0])) {
        return 0;
    }
    for (int i = 1; i < kernel->n_inputs; i++) {
        if (!gs_is_plain(inputs[i]) || !gs_same_shape(inputs[0], inputs[i])) {
            return 0;
        }
    }
    return 1;
}

#define WRITABLE (NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE)

/* Can the array, if it has the wanted flags, take a result of this type and shape? */
static inline int
can_take(PyObject *array, int wanted, int type, int nd, const npy_intp *dims)
{
    PyArrayObject_fields *a = gs_fields(array);
    return a->descr == gs_descr[type] && (a->flags & wanted) == wanted && a->nd == nd &&
           (nd == 0 || memcmp(a->dimensions, dims, sizeof(npy_intp) * (size_t)nd) == 0);
}

static void
hold(const gs_fused_kernel *kernel, PyObject **inputs)
{
    for (int i = 0; i < kernel->n_inputs; i++) {
        Py_INCREF(inputs[i]);
    }
}

static void
let_go(const gs_fused_kernel *kernel, PyObject **inputs)
{
    for (int i = 0; i < kernel->n_inputs; i++) {
        Py_DECREF(inputs[i]);
    }
}

static GS_NOINLINE void
run_flat_parallel(const gs_fused_kernel *kernel, gs_fused_loop loop, PyObject **inputs, const double *scalars,
                  PyObject *out, npy_intp size, npy_intp n, int doubles)
{
    fused_run run;
    run.loop = loop;
    run.scalars = scalars;
    run.size = size;
    run.n_inputs = kernel->n_inputs;
    run.doubles = doubles;
    for (int i = 0; i < kernel->n_inputs; i++) {
        run.it.data[i] = gs_fields(inputs[i])->data;
    }
    run.it.data[kernel->n_inputs] = gs_fields(out)->data;
    hold(kernel, inputs);
    gs_parallel(run_flat, &run, n, kernel->cost, 64);
    let_go(kernel, inputs);
}

/* All operands are plain and of one shape. */
static inline void
run_plain(const gs_fused_kernel *kernel, int type, PyObject **inputs, const double *scalars, PyObject *out, int doubles)
{
    gs_fused_loop loop = kernel->loops[type == NPY_FLOAT64];
    npy_intp n = gs_size(out);
    if (GS_UNLIKELY(n * kernel->cost >= GS_GRAIN)) {
        run_flat_parallel(kernel, loop, inputs, scalars, out, gs_itemsize[type], n, doubles);
        return;
    }
    char *args[GS_MAX_OPERANDS];
    for (int i = 0; i < kernel->n_inputs; i++) {
        args[i] = gs_fields(inputs[i])->data;
    }
    args[kernel->n_inputs] = gs_fields(out)->data;
    loop(args, scalars, n);
    if (doubles) {
        add_to_itself(gs_fields(out)->data, n, gs_itemsize[type]);
    }
}

/* Inputs of any layout.  0, and nothing is written, when the output has gaps. */
static int
run_general(const gs_fused_kernel *kernel, int type, PyObject **inputs, const double *scalars, PyObject *out, int doubles)
{
    PyObject *operands[GS_MAX_OPERANDS];
    int all_flat = 1;
    fused_run run;
    memcpy(operands, inputs, sizeof(PyObject *) * kernel->n_inputs);
    operands[kernel->n_inputs] = out;
    run.loop = kernel->loops[type == NPY_FLOAT64];
    run.scalars = scalars;
    run.size = gs_itemsize[type];
    run.n_inputs = kernel->n_inputs;
    run.doubles = doubles;
    gs_iteration_init(&run.it, operands, kernel->n_inputs + 1, gs_fields(out)->nd, gs_fields(out)->dimensions);
    if (run.it.size == 0) {
        return 1; /* whatever the strides, which say nothing */
    }
    if (gs_kind_of(&run.it, kernel->n_inputs) != GS_FLAT) {
        return 0;
    }
    for (int i = 0; i < kernel->n_inputs; i++) {
        run.kinds[i] = gs_kind_of(&run.it, i);
        all_flat &= run.kinds[i] == GS_FLAT;
    }
    hold(kernel, inputs);
    if (all_flat) {
        gs_parallel(run_flat, &run, run.it.size, kernel->cost, 64);
    } else if (has_input_across(&run)) {
        npy_intp n_tiles = run.it.size / run.it.dims[0] * tiles_in(&run, run.it.dims[0]);
        gs_parallel(run_tiles_across, &run, n_tiles, TILE_BYTES / run.size * (kernel->cost + 1), 1);
    } else {
        gs_parallel(run_tiles, &run, run.it.size, kernel->cost + 1, TILE_BYTES / run.size);
    }
    let_go(kernel, inputs);
    return 1;
}

/* ---- new results */

static PyObject *
plain_output(PyObject *reuse, int type, int nd, const npy_intp *dims)
{
    if (reuse != NULL && can_take(reuse, WRITABLE | GS_PLAIN, type, nd, dims)) {
        Py_INCREF(reuse);
        return reuse;
    }
    return gs_array_new(type, nd, dims);
}

static PyObject *
general_output(PyObject *reuse, int type, int n, PyObject *const *inputs, int nd, const npy_intp *dims)
{
    npy_intp strides[NPY_MAXDIMS];
    if (reuse != NULL && can_take(reuse, WRITABLE, type, nd, dims)) {
        gs_result_strides(inputs, n, nd, dims, gs_itemsize[type], strides);
        if (gs_has_strides(reuse, strides)) {
            Py_INCREF(reuse);
            return reuse;
        }
    }
    return gs_result_new(type, inputs, n, nd, dims);
}

static GS_NOINLINE PyObject *
fused_general(const gs_fused_kernel *kernel, int type, PyObject **inputs, const double *scalars, PyObject *reuse,
              int doubles)
{
    npy_intp dims[NPY_MAXDIMS];
    int n = kernel->n_inputs;
    int nd = gs_broadcast_shape(inputs, n, dims);
    if (nd >= 0 && gs_any_meta(inputs, n)) {
        return gs_meta_new(type, nd, dims);
    }
    PyObject *out = nd < 0 ? NULL : general_output(reuse, type, n, inputs, nd, dims);
    if (out != NULL) {
        run_general(kernel, type, inputs, scalars, out, doubles);
    }
    return out;
}

GS_INLINE PyObject *
result_of(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse, int doubles)
{
    int type = common_float(kernel, inputs);
    if (type < 0) {
        return NULL;
    }
    if (GS_UNLIKELY(!all_plain_and_alike(kernel, inputs))) {
        return fused_general(kernel, type, inputs, scalars, reuse, doubles);
    }
    PyArrayObject_fields *model = gs_fields(inputs[0]);
    PyObject *out = plain_output(reuse, type, model->nd, model->dimensions);
    if (GS_LIKELY(out != NULL)) {
        run_plain(kernel, type, inputs, scalars, out, doubles);
    }
    return out;
}

PyObject *
gs_fused(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse)
{
    if (kernel->loops[0] == NULL) {
        Py_INCREF(inputs[0]);
        return inputs[0];
    }
    return result_of(kernel, inputs, scalars, reuse, 0);
}

PyObject *
gs_fused_doubled(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse)
{
    return kernel->loops[0] == NULL ? NULL : result_of(kernel, inputs, scalars, reuse, 1);
}

/* ---- results that are only summed
 *
 * The gradient of what was broadcast is the sum of a result, which is computed a few rows at a time, summed while it is in
 * the cache, and never written to memory. */

#define SUMMED_FROM (1 << 14) /* elements */

static void
write_terms(void *context, npy_intp first, npy_intp n, void *to)
{
    const fused_run *run = context;
    _Alignas(64) char buffers[GS_FUSED_MAX_INPUTS][TILE_BYTES];
    char *out = to;
    npy_intp tile = TILE_BYTES / run->size, row = run->it.dims[0];
    for (int i = 0; i < run->n_inputs; i++) {
        if (run->kinds[i] == GS_CONSTANT) {
            gs_repeat_element(buffers[i], run->it.data[i], Py_MIN(n, tile), run->size);
        }
    }
    for (npy_intp last = first + n; first < last;) {
        npy_intp here = Py_MIN(last - first, tile);
        if (row >= SHORT_ROW) {
            here = Py_MIN(here, row - first % row);
        }
        run_tile(run, first, here, buffers, out);
        out += here * run->size;
        first += here;
    }
}

typedef struct {
    npy_intp outer, r, inner;
} reduction;

/* Sizes before, along and behind the dimensions in which the shape is broadcast to the full one; 0 where these do not lie
 * beside each other, or there are none. */
static int
find_reduction(int nd, const npy_intp *dims, int full_nd, const npy_intp *full, reduction *found)
{
    *found = (reduction){1, 1, 1};
    for (int d = 0; d < full_nd; d++) {
        int own = d - (full_nd - nd);
        npy_intp size = own < 0 ? 1 : dims[own];
        if (size != 1 && size != full[d]) {
            return 0;
        }
        if (full[d] == 1) {
            continue;
        }
        if (size == full[d]) {
            *(found->r == 1 ? &found->outer : &found->inner) *= size;
        } else if (found->inner == 1) {
            found->r *= full[d];
        } else {
            return 0;
        }
    }
    return found->r > 1;
}

static int
sum_result(fused_run *run, int type, npy_intp cost, const reduction *of, PyObject *out)
{
    char *to = gs_fields(out)->data;
    return type == NPY_FLOAT32
               ? gs_sum_terms_float32(write_terms, run, cost, (float *)to, of->outer, of->r, of->inner)
               : gs_sum_terms_float64(write_terms, run, cost, (double *)to, of->outer, of->r, of->inner);
}

/* Would the result lie by rows, in which the sum of its array would be taken? */
static int
is_by_rows(const gs_fused_kernel *kernel, PyObject **inputs, int nd, const npy_intp *dims, npy_intp size)
{
    npy_intp strides[NPY_MAXDIMS];
    return gs_result_strides(inputs, kernel->n_inputs, nd, dims, size, strides);
}

PyObject *
gs_fused_sum(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, int nd, const npy_intp *dims)
{
    npy_intp full[NPY_MAXDIMS];
    reduction of;
    int n = kernel->n_inputs;
    int type = kernel->loops[0] == NULL ? -1 : common_float(kernel, inputs);
    if (type < 0 || gs_any_meta(inputs, n)) {
        return NULL;
    }
    int full_nd = gs_broadcast_shape(inputs, n, full);
    if (full_nd < nd || !find_reduction(nd, dims, full_nd, full, &of) || of.outer * of.r * of.inner < SUMMED_FROM ||
        !is_by_rows(kernel, inputs, full_nd, full, gs_itemsize[type])) {
        return NULL;
    }
    fused_run run = {kernel->loops[type == NPY_FLOAT64], scalars, gs_itemsize[type], n};
    gs_iteration_by_rows(&run.it, inputs, n, full_nd, full);
    for (int i = 0; i < n; i++) {
        run.kinds[i] = gs_kind_of(&run.it, i);
    }
    PyObject *out = gs_array_new(type, nd, dims);
    hold(kernel, inputs);
    if (out != NULL && sum_result(&run, type, kernel->cost + 1, &of, out) < 0) {
        Py_CLEAR(out);
    }
    let_go(kernel, inputs);
    return out;
}

/* ---- results into an array that exists */

int
gs_fused_into(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *out)
{
    npy_intp dims[NPY_MAXDIMS];
    int n = kernel->n_inputs;
    if (kernel->loops[0] == NULL || gs_is_meta(out) || gs_any_meta(inputs, n)) {
        return 0;
    }
    int type = common_float(kernel, inputs);
    if (type < 0) {
        return gs_fused_halves(kernel, inputs, scalars, out);
    }
    int nd = gs_broadcast_shape(inputs, n, dims);
    if (nd < 0) {
        return -1;
    }
    if (!can_take(out, WRITABLE, type, nd, dims)) {
        return 0;
    }
    if (gs_is_plain(out) && all_plain_and_alike(kernel, inputs)) {
        run_plain(kernel, type, inputs, scalars, out, 0);
        return 1;
    }
    return run_general(kernel, type, inputs, scalars, out, 0);
}
