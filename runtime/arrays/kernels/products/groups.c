/* Note [Groups]
 *
 * Rows of many groups lie as (rows, groups, inner).  Multiplied group by group, each product walks through all of the
 * memory, taking a few numbers from every row; with some megabytes of rows each walk waits for memory.  So rows are taken
 * in blocks that stay in the cache, and all groups of a block are multiplied before the next one.  A product is NumPy's
 * matmul loop, as in matmul.c.
 */
#include "products/groups.h"
#include "support/loops.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#define CACHED 131072 /* bytes of a block of rows */
#define LEAST_ROWS 64 /* of a block: fewer, and calls cost as much as what they do */

/* Found while the interpreter's lock is held: at its first use a loop is tried on small arrays. */
typedef struct {
    const gs_groups *job;
    const gs_loop *loop;
    char *block_sums; /* room for another result, for sums */
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

int
gs_rows_of_groups(const void *context)
{
    const gs_groups *job = context;
    groups_task task = {job, gs_matmul_loop(job->type), NULL};
    if (task.loop->state == GS_REFUSED) {
        return 0;
    }
    gs_parallel(multiply_rows, &task, job->rows, (npy_intp)(work_of_row(job) / 8) + 1, LEAST_ROWS);
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
    char *result = job->result + first * matrix, *scratch = task->block_sums + first * matrix;
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

int
gs_outers_of_groups(const void *context)
{
    const gs_groups *job = context;
    groups_task task = {job, gs_matmul_loop(job->type), NULL};
    if (task.loop->state == GS_REFUSED) {
        return 0;
    }
    size_t bytes = (size_t)(job->groups * job->inner * job->columns * item_size(job));
    if (job->rows == 0) {
        memset(job->result, 0, bytes);
        return 1;
    }
    task.block_sums = PyMem_Malloc(bytes);
    if (task.block_sums == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    double work_of_group = (double)job->rows * (double)job->inner * (double)job->columns;
    gs_parallel(sum_outers, &task, job->groups, (npy_intp)(work_of_group / 8) + 1, 1);
    PyMem_Free(task.block_sums);
    return 1;
}
