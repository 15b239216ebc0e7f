#include "iteration.h"
#include "order.h"
#include "threads/thread_pool.h"

/* ---- shapes */

static void
raise_shapes(PyObject *const *arrays, int i, int k, int dim, npy_intp a_size, npy_intp b_size)
{
    PyArrayObject_fields *a = gs_fields(arrays[i]), *b = gs_fields(arrays[k]);
    PyObject *a_text = gs_shape_text(a->nd, a->dimensions);
    PyObject *b_text = gs_shape_text(b->nd, b->dimensions);
    if (a_text != NULL && b_text != NULL) {
        PyErr_Format(PyExc_RuntimeError,
                     "The size of tensor %c (%zd) must match the size of tensor %c (%zd) at non-singleton dimension %d; "
                     "shapes %U and %U do not broadcast",
                     'a' + i, a_size, 'a' + k, b_size, dim, a_text, b_text);
    }
    Py_XDECREF(a_text);
    Py_XDECREF(b_text);
}

int
gs_broadcast_shape(PyObject *const *arrays, int n, npy_intp *dims)
{
    int nd = 0;
    for (int i = 0; i < n; i++) {
        int own = gs_fields(arrays[i])->nd;
        nd = own > nd ? own : nd;
    }
    for (int d = nd - 1; d >= 0; d--) {
        npy_intp size = 1;
        int decided_by = 0;
        for (int i = 0; i < n; i++) {
            PyArrayObject_fields *a = gs_fields(arrays[i]);
            int own = d - (nd - a->nd);
            npy_intp own_size = own < 0 ? 1 : a->dimensions[own];
            if (own_size == 1 || own_size == size) {
                continue;
            }
            if (size != 1) {
                raise_shapes(arrays, decided_by, i, d, size, own_size);
                return -1;
            }
            size = own_size;
            decided_by = i;
        }
        dims[d] = size;
    }
    return nd;
}

static int
can_merge(const gs_iteration *it, const npy_intp *strides)
{
    int inner = it->nd - 1;
    for (int i = 0; i < it->n_operands; i++) {
        if (it->strides[i][inner] * it->dims[inner] != strides[i]) {
            return 0;
        }
    }
    return 1;
}

static void
append_dim(gs_iteration *it, npy_intp size, const npy_intp *strides)
{
    if (it->nd > 0 && can_merge(it, strides)) {
        it->dims[it->nd - 1] *= size;
        return;
    }
    it->dims[it->nd] = size;
    for (int i = 0; i < it->n_operands; i++) {
        it->strides[i][it->nd] = strides[i];
    }
    it->nd++;
}

static void
init_in_order(gs_iteration *it, PyObject *const *arrays, int n, int nd, const npy_intp *dims, const int *order)
{
    npy_intp strides[GS_MAX_OPERANDS];
    it->n_operands = n;
    it->nd = 0;
    it->size = 1;
    for (int i = 0; i < n; i++) {
        it->data[i] = gs_fields(arrays[i])->data;
        it->sizes[i] = PyArray_ITEMSIZE((PyArrayObject *)arrays[i]);
    }
    for (int k = 0; k < nd; k++) {
        int d = order[k];
        it->size *= dims[d];
        if (dims[d] == 1) {
            continue;
        }
        for (int i = 0; i < n; i++) {
            strides[i] = gs_broadcast_stride(arrays[i], nd, d);
        }
        append_dim(it, dims[d], strides);
    }
    if (it->nd == 0) { /* a dense row of one: some loops of NumPy's round otherwise where elements lie apart */
        for (int i = 0; i < n; i++) {
            strides[i] = it->sizes[i];
        }
        append_dim(it, 1, strides);
    }
}

void
gs_iteration_init(gs_iteration *it, PyObject *const *arrays, int n, int nd, const npy_intp *dims)
{
    int order[NPY_MAXDIMS];
    gs_order(&arrays[n - 1], 1, nd, dims, order);
    init_in_order(it, arrays, n, nd, dims, order);
}

void
gs_iteration_by_rows(gs_iteration *it, PyObject *const *arrays, int n, int nd, const npy_intp *dims)
{
    int order[NPY_MAXDIMS];
    for (int d = 0; d < nd; d++) {
        order[d] = nd - 1 - d;
    }
    init_in_order(it, arrays, n, nd, dims, order);
}

/* ---- order of the walk */

static void
swap_inner_dims(gs_iteration *it)
{
    npy_intp size = it->dims[0];
    it->dims[0] = it->dims[1];
    it->dims[1] = size;
    for (int i = 0; i < it->n_operands; i++) {
        npy_intp stride = it->strides[i][0];
        it->strides[i][0] = it->strides[i][1];
        it->strides[i][1] = stride;
    }
}

#define CACHE_LINE 64
#define BLOCK 64       /* elements, each in a cache line of its own */
#define LONG_BLOCK 512 /* of elements that share cache lines */

/* The length of the blocks in which the innermost dimension is walked, or 0 where it is walked as a whole.
 *
 * Some operand steps through memory in larger steps inside than outside, as a transposed one does.  Then each cache
 * line would be fetched once per element, or once per row. */
static npy_intp
block_length(const gs_iteration *it)
{
    npy_intp length = 0;
    if (it->nd < 2) {
        return 0;
    }
    for (int i = 0; i < it->n_operands; i++) {
        npy_intp inner = Py_ABS(it->strides[i][0]), outer = Py_ABS(it->strides[i][1]);
        if (outer == 0 || outer >= inner) {
            continue;
        }
        if (inner >= CACHE_LINE && it->dims[1] >= 4 && it->dims[0] >= 2 * BLOCK) {
            return BLOCK;
        }
        if (it->dims[0] >= 2 * LONG_BLOCK) {
            length = LONG_BLOCK;
        }
    }
    return length;
}

/* Splits the innermost dimension into blocks that are walked outside of the second one:
 *
 *     dims [n, m, ...]  ->  [length, m, n / length, ...]  and  rest [n % length, m, ...] */
static void
split_into_blocks(gs_iteration *it, npy_intp length, gs_iteration *rest)
{
    npy_intp n_blocks = it->dims[0] / length;
    *rest = *it;
    rest->dims[0] = it->dims[0] % length;
    rest->size = it->size / it->dims[0] * rest->dims[0];
    it->size -= rest->size;
    memmove(&it->dims[3], &it->dims[2], sizeof(npy_intp) * (size_t)(it->nd - 2));
    it->dims[0] = length;
    it->dims[2] = n_blocks;
    for (int i = 0; i < it->n_operands; i++) {
        npy_intp *strides = it->strides[i];
        memmove(&strides[3], &strides[2], sizeof(npy_intp) * (size_t)(it->nd - 2));
        strides[2] = strides[0] * length;
        rest->data[i] += strides[2] * n_blocks;
    }
    it->nd++;
}

/* ---- the walk */

typedef struct {
    const gs_iteration *it;
    const gs_loop *loop;
    int is_short; /* by the loop for short rows */
} walk;

/* Elements first..last of a single dimension. */
static void
walk_row(void *context, npy_intp first, npy_intp last)
{
    const walk *w = context;
    char *args[GS_MAX_OPERANDS];
    npy_intp strides[GS_MAX_OPERANDS];
    npy_intp n = last - first;
    for (int i = 0; i < w->it->n_operands; i++) {
        strides[i] = w->it->strides[i][0];
        args[i] = w->it->data[i] + first * strides[i];
    }
    w->loop->run(args, &n, strides, w->loop->data);
}

int
gs_has_loop_of_rows(const gs_iteration *it, const gs_loop *loop)
{
    if (loop->rows == NULL || it->dims[0] > GS_SHORT_ROW) {
        return 0;
    }
    npy_intp a = it->strides[0][0], b = it->strides[1][0], size = gs_itemsize[loop->out_type];
    return it->strides[2][0] == size && (a == size || (a == 0 && b == size)) && (b == size || b == 0);
}

/* Some rows that follow each other in the second dimension. */
static void
walk_neighbours(const walk *w, char *const *data, const npy_intp *strides, const npy_intp *row_strides, npy_intp n_rows)
{
    if (w->is_short) {
        w->loop->rows(data, strides, row_strides, w->it->dims[0], n_rows);
        return;
    }
    int n_operands = w->it->n_operands;
    char *args[GS_MAX_OPERANDS];
    for (npy_intp row = 0; row < n_rows; row++) {
        for (int i = 0; i < n_operands; i++) {
            args[i] = data[i] + row * row_strides[i]; /* a loop may change its arguments */
        }
        w->loop->run(args, w->it->dims, strides, w->loop->data);
    }
}

/* Rows first..last, counted over all dimensions but the innermost. */
static void
walk_rows(void *context, npy_intp first, npy_intp last)
{
    const walk *w = context;
    const gs_iteration *it = w->it;
    int n_operands = it->n_operands;
    char *position[GS_MAX_OPERANDS];
    npy_intp strides[GS_MAX_OPERANDS], row_strides[GS_MAX_OPERANDS];
    npy_intp index[GS_MAX_DIMS];
    npy_intp left = first;
    for (int i = 0; i < n_operands; i++) {
        strides[i] = it->strides[i][0];
        row_strides[i] = it->strides[i][1];
        position[i] = it->data[i];
    }
    for (int d = 1; d < it->nd; d++) {
        index[d] = left % it->dims[d];
        left /= it->dims[d];
        for (int i = 0; i < n_operands; i++) {
            position[i] += index[d] * it->strides[i][d];
        }
    }
    for (npy_intp row = first;;) {
        npy_intp n_rows = Py_MIN(it->dims[1] - index[1], last - row);
        walk_neighbours(w, position, strides, row_strides, n_rows);
        row += n_rows;
        if (row == last) {
            return;
        }
        index[1] += n_rows - 1;
        for (int i = 0; i < n_operands; i++) {
            position[i] += (n_rows - 1) * row_strides[i];
        }
        int d = 1;
        while (++index[d] == it->dims[d]) {
            for (int i = 0; i < n_operands; i++) {
                position[i] -= it->strides[i][d] * (it->dims[d] - 1);
            }
            index[d++] = 0;
        }
        for (int i = 0; i < n_operands; i++) {
            position[i] += it->strides[i][d];
        }
    }
}

static void
run_ordered(gs_iteration *it, const gs_loop *loop)
{
    walk w = {it, loop, it->nd > 1 && gs_has_loop_of_rows(it, loop)};
    if (it->size == 0) {
        return;
    }
    if (it->nd == 1) {
        gs_parallel(walk_row, &w, it->size, loop->cost, 64);
    } else {
        gs_parallel(walk_rows, &w, it->size / it->dims[0], it->dims[0] * loop->cost + 4, 1);
    }
}

void
gs_iteration_run(gs_iteration *it, const gs_loop *loop)
{
    if (it->nd > 1 && it->dims[0] <= GS_FEW_STEPS && it->dims[1] > 4 * it->dims[0] && !gs_has_loop_of_rows(it, loop)) {
        swap_inner_dims(it); /* few long steps cost less than many calls */
    }
    npy_intp length = block_length(it);
    if (length == 0) {
        run_ordered(it, loop);
        return;
    }
    gs_iteration rest;
    split_into_blocks(it, length, &rest);
    run_ordered(it, loop);
    run_ordered(&rest, loop);
}
