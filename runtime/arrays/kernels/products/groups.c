/* Note [Groups]
 *
 * Rows of many groups lie as (rows, groups, inner).  Multiplied group by group, each product walks through all of the
 * memory, taking a few numbers from every row; with some megabytes of rows each walk waits for memory.  So rows are taken
 * in blocks that stay in the cache, and all groups of a block are multiplied before the next one.
 *
 * Where the matrices are narrow, as they mostly are, BLAS would pack both operands of each block to do little with them.
 * groups_template.h packs the matrices once and takes rows as they lie.  Other products are NumPy's matmul loop, as in
 * matmul.c.
 */
#include "products/groups.h"
#include "support/loops.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#if defined(__GNUC__) || defined(__clang__)
#define GS_PREFETCH(at) __builtin_prefetch(at)
#else
#define GS_PREFETCH(at) ((void)(at))
#endif

#define CACHED 131072 /* bytes of a block of rows */
#define LEAST_ROWS 64 /* of a block: fewer, and calls cost as much as what they do */

#define MOST_NARROW 64 /* rows and columns of a matrix */
#define MOST_TERMS 32  /* of a sum, in a block */
#define PANEL_BYTES 64
#define TILE_ROWS 6

#include "support/with_float32.h"
#include "groups_template.h"

#include "support/with_float64.h"
#include "groups_template.h"

/* Found while the interpreter's lock is held: at its first use a loop is tried on small arrays. */
typedef struct {
    const gs_groups *job;
    const gs_loop *loop;
    char *room; /* narrow: matrices or sums in panels; wide sums: another result */
} groups_task;

static npy_intp
item_size(const gs_groups *job)
{
    return job->type == NPY_FLOAT32 ? 4 : job->type == NPY_CDOUBLE ? 16 : 8;
}

static npy_intp
rows_of_block(npy_intp row_bytes)
{
    npy_intp rows = CACHED / (row_bytes > 0 ? row_bytes : 1);
    return rows > LEAST_ROWS ? rows : LEAST_ROWS;
}

/* Lines of a block of rows, in the order in which they lie: the walks of the groups over them leave out so much that the
 * processor would not see them coming. */
static void
fetch(const char *at, npy_intp row, npy_intp row_bytes, npy_intp rows)
{
    for (npy_intp i = 0; i < rows; i++, at += row) {
        for (npy_intp byte = 0; byte < row_bytes; byte += 64) {
            GS_PREFETCH(at + byte);
        }
    }
}

static int
is_narrow(const gs_groups *job)
{
    return (job->type == NPY_FLOAT32 || job->type == NPY_FLOAT64) && job->inner <= MOST_NARROW &&
           job->columns <= MOST_NARROW;
}

/* From the first element of a row to its last. */
static npy_intp
row_bytes(const gs_groups *job, npy_intp group, npy_intp columns)
{
    return (job->groups - 1) * group + columns * item_size(job);
}

static double
work_of_row(const gs_groups *job)
{
    return (double)job->groups * (double)job->inner * (double)job->columns;
}

/* ---- rows */

static void
multiply_rows(void *context, npy_intp first, npy_intp last)
{
    const groups_task *task = context;
    const gs_groups *job = task->job;
    npy_intp size = item_size(job), block = rows_of_block(job->groups * job->inner * size);
    const npy_intp strides[9] = {job->a_group, job->b_group,  job->result_group, job->a_row, size,
                                 job->b_row,   job->b_column, job->result_row,   size};
    for (npy_intp row = first; row < last; row += block) {
        npy_intp here = last - row < block ? last - row : block;
        char *args[3] = {job->a + row * job->a_row, job->b, job->result + row * job->result_row};
        npy_intp core[4] = {job->groups, here, job->inner, job->columns};
        task->loop->run(args, core, strides, task->loop->data);
    }
}

static void
multiply_narrow_rows(void *context, npy_intp first, npy_intp last)
{
    const groups_task *task = context;
    const gs_groups *job = task->job;
    npy_intp block = rows_of_block(job->groups * job->inner * item_size(job));
    for (npy_intp row = first; row < last; row += block) {
        npy_intp end = last - row < block ? last : row + block;
        fetch(job->a + row * job->a_row, job->a_row, row_bytes(job, job->a_group, job->inner), end - row);
        fetch(job->result + row * job->result_row, job->result_row, job->result_row, end - row);
        if (job->type == NPY_FLOAT32) {
            multiply_block_float32(job, task->room, row, end);
        } else {
            multiply_block_float64(job, task->room, row, end);
        }
    }
}

static void
pack_matrices(const gs_groups *job, char *packed)
{
    if (job->type == NPY_FLOAT32) {
        pack_matrices_float32(job, packed);
    } else {
        pack_matrices_float64(job, packed);
    }
}

/* Of a matrix in panels. */
static npy_intp
bytes_in_panels(const gs_groups *job)
{
    npy_intp panels = (job->columns * item_size(job) + PANEL_BYTES - 1) / PANEL_BYTES;
    return job->inner * panels * PANEL_BYTES;
}

/* Zeros for the matrices of all groups in panels; NULL with MemoryError. */
static char *
room_for_matrices(const gs_groups *job)
{
    char *room = PyMem_Calloc((size_t)job->groups, (size_t)bytes_in_panels(job));
    if (room == NULL) {
        PyErr_NoMemory();
    }
    return room;
}

int
gs_rows_of_groups(const void *context)
{
    const gs_groups *job = context;
    groups_task task = {job, gs_matmul_loop(job->type), NULL};
    npy_intp cost = (npy_intp)(work_of_row(job) / 8) + 1;
    if (!is_narrow(job)) {
        if (task.loop->state == GS_REFUSED) {
            return 0;
        }
        gs_parallel(multiply_rows, &task, job->rows, cost, LEAST_ROWS);
        return 1;
    }
    task.room = room_for_matrices(job);
    if (task.room == NULL) {
        return -1;
    }
    pack_matrices(job, task.room);
    gs_parallel(multiply_narrow_rows, &task, job->rows, cost, LEAST_ROWS);
    PyMem_Free(task.room);
    return 1;
}

/* ---- sums of outer products
 *
 * Threads take groups: so the order of summation does not depend on their number. */

#define ADD_TO(name, real)                                    \
    GS_CLONES static void name(char *to, const char *from, npy_intp n) \
    {                                                         \
        real *sum = (real *)to;                               \
        const real *term = (const real *)from;                \
        GS_IVDEP                                              \
        for (npy_intp i = 0; i < n; i++) {                    \
            sum[i] += term[i];                                \
        }                                                     \
    }

ADD_TO(add_floats, float)
ADD_TO(add_doubles, double)

static void
add_block(const gs_groups *job, char *to, const char *from, npy_intp bytes)
{
    if (job->type == NPY_FLOAT32 || job->type == NPY_CFLOAT) {
        add_floats(to, from, bytes / 4);
    } else {
        add_doubles(to, from, bytes / 8);
    }
}

static void
sum_outers(void *context, npy_intp first, npy_intp last)
{
    const groups_task *task = context;
    const gs_groups *job = task->job;
    npy_intp size = item_size(job), matrix = job->inner * job->columns * size;
    npy_intp widest = job->inner > job->columns ? job->inner : job->columns;
    npy_intp block = rows_of_block(job->groups * widest * size);
    const npy_intp strides[9] = {job->a_group, job->b_group, matrix, size, job->a_row, job->b_row, size,
                                 job->columns * size, size};
    char *result = job->result + first * matrix, *scratch = task->room + first * matrix;
    for (npy_intp row = 0; row < job->rows; row += block) {
        npy_intp here = job->rows - row < block ? job->rows - row : block;
        char *args[3] = {job->a + first * job->a_group + row * job->a_row,
                         job->b + first * job->b_group + row * job->b_row, row == 0 ? result : scratch};
        npy_intp core[4] = {last - first, job->inner, here, job->columns};
        task->loop->run(args, core, strides, task->loop->data);
        if (row > 0) {
            add_block(job, result, scratch, (last - first) * matrix);
        }
    }
}

static void
sum_narrow_outers(void *context, npy_intp first, npy_intp last)
{
    const groups_task *task = context;
    const gs_groups *job = task->job;
    npy_intp bytes = bytes_in_panels(job);
    for (npy_intp row = 0; row < job->rows; row += MOST_TERMS) {
        npy_intp end = job->rows - row < MOST_TERMS ? job->rows : row + MOST_TERMS;
        fetch(job->a + row * job->a_row, job->a_row, row_bytes(job, job->a_group, job->inner), end - row);
        fetch(job->b + row * job->b_row, job->b_row, row_bytes(job, job->b_group, job->columns), end - row);
        for (npy_intp group = first; group < last; group++) {
            if (job->type == NPY_FLOAT32) {
                sum_block_float32(job, task->room + group * bytes, group, row, end);
            } else {
                sum_block_float64(job, task->room + group * bytes, group, row, end);
            }
        }
    }
}

static void
unpack_sums(const gs_groups *job, const char *sums)
{
    npy_intp bytes = bytes_in_panels(job), matrix = job->inner * job->columns;
    for (npy_intp group = 0; group < job->groups; group++) {
        const char *from = sums + group * bytes;
        if (job->type == NPY_FLOAT32) {
            unpack_float32((float *)job->result + group * matrix, (const float *)from, job->inner, job->columns);
        } else {
            unpack_float64((double *)job->result + group * matrix, (const double *)from, job->inner, job->columns);
        }
    }
}

static int
sum_narrow(groups_task *task, npy_intp cost)
{
    task->room = room_for_matrices(task->job);
    if (task->room == NULL) {
        return -1;
    }
    gs_parallel(sum_narrow_outers, task, task->job->groups, cost, 1);
    unpack_sums(task->job, task->room);
    PyMem_Free(task->room);
    return 1;
}

static int
sum_wide(groups_task *task, npy_intp cost)
{
    const gs_groups *job = task->job;
    if (task->loop->state == GS_REFUSED) {
        return 0;
    }
    task->room = PyMem_Malloc((size_t)(job->groups * job->inner * job->columns * item_size(job)));
    if (task->room == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    gs_parallel(sum_outers, task, job->groups, cost, 1);
    PyMem_Free(task->room);
    return 1;
}

int
gs_outers_of_groups(const void *context)
{
    const gs_groups *job = context;
    groups_task task = {job, gs_matmul_loop(job->type), NULL};
    npy_intp cost = (npy_intp)((double)job->rows * (double)job->inner * (double)job->columns / 8) + 1;
    if (is_narrow(job)) {
        return sum_narrow(&task, cost);
    }
    if (job->rows == 0) {
        memset(job->result, 0, (size_t)(job->groups * job->inner * job->columns * item_size(job)));
        return 1;
    }
    return sum_wide(&task, cost);
}
