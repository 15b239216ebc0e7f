/* QR decomposition, panel by panel: the columns of a panel are reflected one by one, those behind it by the whole block
 * of its reflections at once; see Note [Reflections]. */
#define PANEL 32 /* columns */

typedef struct {
    gs_algebra algebra;
    const NUMBER *a;
    const gs_qr_results *results;
    npy_intp m, n, k;
    NUMBER *memory; /* for one matrix, or NULL: then each task has its own */
    atomic_int has_no_memory;
} qr_job;

/* Of one matrix; rows are row_step(m) numbers apart. */
typedef struct {
    const qr_job *job;
    npy_intp step;
    NUMBER *columns; /* as rows; behind the diagonal the vectors of reflections */
    NUMBER *factors;
    NUMBER *basis;   /* columns as rows */
    NUMBER *vectors; /* of a panel */
    NUMBER *memory;  /* to turn rows */
} qr_work;

static npy_intp
memory_needed(const qr_job *job)
{
    return row_step(job->m) * (job->n + job->k + PANEL) + row_step(job->n) + memory_to_turn(job->n + job->k);
}

static qr_work
work_in(NUMBER *memory, const qr_job *job)
{
    qr_work w = {.job = job, .step = row_step(job->m), .columns = memory};
    w.basis = w.columns + w.step * job->n;
    w.vectors = w.basis + w.step * job->k;
    w.factors = w.vectors + w.step * PANEL;
    w.memory = w.factors + row_step(job->n);
    return w;
}

/* ---- factors */

/* Reflects the columns from `first` up to `last`, each by those before it in the panel. */
static void
reflect_panel(const qr_work *w, npy_intp first, npy_intp last)
{
    npy_intp m = w->job->m;
    for (npy_intp i = first; i < last; i++) {
        NUMBER *v = w->columns + i * w->step + i, multiple = reflect(v, m - i, w->factors + i);
        turn_by(v, w->factors[i], v + w->step, last - i - 1, w->step, m - i);
        v[0] = multiple;
    }
}

/* The vectors of a panel, with the ones and zeros that are not stored. */
static reflections
reflections_of(const qr_work *w, npy_intp first, npy_intp last)
{
    npy_intp m = w->job->m;
    for (npy_intp i = first; i < last; i++) {
        NUMBER *v = w->vectors + (i - first) * w->step;
        memset(v, 0, bytes(i));
        v[i] = 1;
        memcpy(v + i + 1, w->columns + i * w->step + i + 1, bytes(m - i - 1));
    }
    return (reflections){w->vectors, w->factors + first, last - first, m, w->step};
}

static void
factor(const qr_work *w)
{
    npy_intp n = w->job->n, k = least(w->job->m, n);
    for (npy_intp first = 0; first < k; first += PANEL) {
        npy_intp last = least(first + PANEL, k);
        reflect_panel(w, first, last);
        if (last < n) {
            turn_rows(&w->job->algebra, reflections_of(w, first, last), w->columns + last * w->step, n - last, w->step,
                      0, w->memory);
        }
    }
}

/* Row i of the unit matrix, turned by the reflection with this vector, which begins there. */
static void
set_turned_unit(NUMBER *row, const NUMBER *v, NUMBER factor, npy_intp n)
{
    for (npy_intp j = 0; j < n; j++) {
        row[j] = -factor * v[j];
    }
    row[0] += 1;
}

/* Backwards: a column of the basis before a reflection is still one of the unit matrix, and stays as it is; so what is
 * not finite reaches no column before its own. */
static void
turn_basis(const qr_work *w, npy_intp first, npy_intp last)
{
    npy_intp m = w->job->m, k = w->job->k, step = w->step;
    reflections h = reflections_of(w, first, last);
    if (last < k) {
        turn_rows(&w->job->algebra, h, w->basis + last * step, k - last, step, 1, w->memory);
    }
    for (npy_intp i = last - 1; i >= first; i--) {
        const NUMBER *v = h.vectors + (i - first) * step + i;
        NUMBER *row = w->basis + i * step + i;
        set_turned_unit(row, v, w->factors[i], m - i);
        turn_by(v, w->factors[i], row + step, last - i - 1, step, m - i);
    }
}

static void
find_basis(const qr_work *w)
{
    npy_intp k = w->job->k, count = least(w->job->m, least(w->job->n, k));
    memset(w->basis, 0, bytes(w->step * k));
    for (npy_intp i = 0; i < k; i++) {
        w->basis[i * w->step + i] = 1;
    }
    for (npy_intp first = (count - 1) / PANEL * PANEL; first >= 0; first -= PANEL) {
        turn_basis(w, first, least(first + PANEL, count));
    }
}

/* ---- results */

static void
write_triangle(const qr_work *w, NUMBER *triangle)
{
    npy_intp n = w->job->n, k = w->job->k;
    transpose(w->columns, w->step, triangle, n, n, k);
    for (npy_intp i = 1; i < k; i++) {
        memset(triangle + i * n, 0, bytes(least(i, n)));
    }
}

static void
write_parts(const qr_work *w, NUMBER *parts, NUMBER *factors)
{
    npy_intp m = w->job->m, n = w->job->n;
    for (npy_intp j = 0; j < n; j++) {
        memcpy(parts + j * m, w->columns + j * w->step, bytes(m));
    }
    memcpy(factors, w->factors, bytes(least(m, n)));
}

static void
decompose_to_qr(const qr_work *w, npy_intp i)
{
    npy_intp m = w->job->m, n = w->job->n, k = w->job->k;
    const gs_qr_results *results = w->job->results;
    transpose(w->job->a + i * m * n, n, w->columns, w->step, m, n);
    factor(w);
    if (results->triangle != NULL) {
        write_triangle(w, (NUMBER *)results->triangle + i * k * n);
    }
    if (results->parts != NULL) {
        write_parts(w, (NUMBER *)results->parts + i * m * n, (NUMBER *)results->factors + i * least(m, n));
    }
    if (results->basis != NULL) {
        find_basis(w);
        transpose(w->basis, w->step, (NUMBER *)results->basis + i * m * k, k, k, m);
    }
}

static void
decompose_some(void *context, npy_intp first, npy_intp last)
{
    qr_job *job = context;
    NUMBER *memory = job->memory;
    if (memory == NULL && (memory = malloc(bytes(memory_needed(job)))) == NULL) {
        atomic_store(&job->has_no_memory, 1);
        return;
    }
    qr_work w = work_in(memory, job);
    for (npy_intp i = first; i < last; i++) {
        decompose_to_qr(&w, i);
    }
    if (job->memory == NULL) {
        free(memory);
    }
}

int
DECOMPOSITION(qr)(const void *a, const gs_qr_results *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k)
{
    qr_job job = {.a = a, .results = results, .m = m, .n = n, .k = k};
    double cost = (double)m * (double)n * (double)least(m, n) / 2 + 16;
    PyObject *memory = NULL;
    void *place;
    if (gs_begin_algebra(&job.algebra, TYPE) < 0) {
        return -1;
    }
    if (count == 1) {
        memory = gs_work_memory((npy_intp)bytes(memory_needed(&job)), &place);
        if (memory == NULL) {
            return -1;
        }
        job.memory = place;
    }
    if (count > 0 && m > 0 && n > 0) {
        gs_parallel(decompose_some, &job, count, cost < 1e15 ? (npy_intp)cost : (npy_intp)1e15, 1);
    }
    gs_array_xrelease(memory);
    if (!job.has_no_memory) {
        return 0;
    }
    PyErr_NoMemory();
    return -1;
}

#undef PANEL
