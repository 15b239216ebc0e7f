/* The steps of recurrence.c for one type: REAL, and NAME(x), which adds the suffix. */

/* ---- rows and products */

#define ROW(array, row, width) ((REAL *)(array) + (row) * (width))

/* Row of an array that may be missing. */
#define ROW_OR_ZEROS(array, row, width) ((array) == NULL ? (REAL *)j->zeros : ROW(array, row, width))

/* Of GS_RUN alone: the state before the first step is an input. */
#define ROW_BEFORE(array, initial, width) \
    (i < s->carried ? ROW(array, s->row_before + i, width) : ROW_OR_ZEROS(initial, s->first + i, width))

#define ROW_AFTER(array, width) (i < s->continued ? ROW(array, s->row_after + i, width) : (REAL *)j->zeros)

/* to = from + a @ matrix, where rows without a are from alone.  Rows are `a_row`, `from_row`, `to_row` apart. */
static void
NAME(multiply)(const gs_packed_matrix *matrix, npy_intp n_rows, const REAL *a, npy_intp a_row, const REAL *from,
               npy_intp from_row, REAL *to, npy_intp to_row)
{
    if (a != NULL) {
        gs_row_product p = {matrix, n_rows, a, a_row, from, from_row, to, to_row};
        gs_multiply_rows(&p);
        return;
    }
    size_t bytes = (size_t)matrix->n_columns * sizeof(REAL);
    for (npy_intp i = 0; i < n_rows && (from == NULL || from + i * from_row != to + i * to_row); i++) {
        if (from == NULL) {
            memset(to + i * to_row, 0, bytes);
        } else {
            memcpy(to + i * to_row, from + i * from_row, bytes);
        }
    }
}

/* The same for a step, where the first rows are those of `a` and the others those of `others`, which may be missing. */
static void
NAME(multiply_both)(const gs_packed_matrix *matrix, npy_intp n_rows, npy_intp n_first, const REAL *a,
                    const REAL *others, npy_intp a_row, const REAL *from, npy_intp from_row, REAL *to, npy_intp to_row)
{
    NAME(multiply)(matrix, n_first, a, a_row, from, from_row, to, to_row);
    NAME(multiply)(matrix, n_rows - n_first, others, a_row, from == NULL ? NULL : from + n_first * from_row, from_row,
                   to + n_first * to_row, to_row);
}

/* to = from + previous outputs @ matrix; those before the first step are `initial`, or zeros. */
static void
NAME(multiply_before)(const job *j, const step *s, const gs_packed_matrix *matrix, const void *outputs,
                      const void *initial, const REAL *from, npy_intp from_row, REAL *to, npy_intp to_row)
{
    npy_intp size = j->r->size;
    const REAL *others = initial == NULL ? NULL : ROW(initial, s->first + s->carried, size);
    NAME(multiply_both)(matrix, s->n, s->carried, ROW(outputs, s->row_before, size), others, size, from, from_row, to,
                        to_row);
}

/* to = from + gates after @ matrix, from a place of the gates on. */
static void
NAME(multiply_after)(const job *j, const step *s, const gs_packed_matrix *matrix, npy_intp place, npy_intp gates_row,
                     const REAL *from, REAL *to)
{
    npy_intp size = j->r->size;
    const REAL *a = ROW(j->r->to_gates, s->row_after, gates_row) + place;
    NAME(multiply_both)(matrix, s->n, s->continued, a, NULL, gates_row, from, size, to, size);
}

static REAL *
NAME(start)(const void *array, npy_intp row, npy_intp width)
{
    return array == NULL ? NULL : ROW(array, row, width);
}

/* ---- LSTM */

/* Where the output of a cell goes before its projection, and where the gradient of that comes from. */
static REAL *
NAME(unprojected)(const job *j, const step *s, void *array)
{
    return j->r->projection == NULL ? ROW(array, s->row, j->r->hidden) : ROW(j->scratch, s->first, j->r->hidden);
}

GS_CLONES static void
NAME(run_lstm_gates)(const job *j, const step *s, REAL *outputs)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    for (npy_intp i = 0; i < s->n; i++) {
        REAL *gates = ROW(r->gates, s->row + i, 4 * n), *cells = ROW(r->cells, s->row + i, n), *output = outputs + i * n;
        const REAL *before = ROW_BEFORE(r->cells, r->initial_cells, n);
        GS_IVDEP
        for (npy_intp u = 0; u < n; u++) {
            REAL in = NAME(gs_logistic)(gates[u]), forget = NAME(gs_logistic)(gates[n + u]);
            REAL cell = NAME(gs_tanh)(gates[2 * n + u]), out = NAME(gs_logistic)(gates[3 * n + u]);
            REAL next = forget * before[u] + in * cell;
            gates[u] = in;
            gates[n + u] = forget;
            gates[2 * n + u] = cell;
            gates[3 * n + u] = out;
            cells[u] = next;
            output[u] = out * NAME(gs_tanh)(next);
        }
    }
}

static void
NAME(run_lstm)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp width = 4 * r->hidden;
    REAL *gates = ROW(r->gates, s->row, width), *outputs = NAME(unprojected)(j, s, r->output);
    NAME(multiply_before)(j, s, &j->main, r->output, r->initial, ROW(r->from_gates, s->row, width), width, gates, width);
    NAME(run_lstm_gates)(j, s, outputs);
    if (r->projection != NULL) {
        NAME(multiply)(&j->second, s->n, outputs, r->hidden, NULL, 0, ROW(r->output, s->row, r->size), r->size);
    }
}

GS_CLONES static void
NAME(pull_lstm_gates)(const job *j, const step *s, const REAL *outputs)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    for (npy_intp i = 0; i < s->n; i++) {
        const REAL *gates = ROW(r->gates, s->row + i, 4 * n), *cells = ROW(r->cells, s->row + i, n);
        const REAL *before = ROW_BEFORE(r->cells, r->initial_cells, n), *output = outputs + i * n;
        const REAL *cells_after = ROW_AFTER(r->to_cells, n), *gates_after = ROW_AFTER(r->gates, 4 * n);
        const REAL *from_gates = ROW_OR_ZEROS(r->from_gates, s->row + i, 4 * n);
        const REAL *from_cells = ROW_OR_ZEROS(r->from_cells, s->row + i, n);
        REAL *to_gates = ROW(r->to_gates, s->row + i, 4 * n), *to_cells = ROW(r->to_cells, s->row + i, n);
        GS_IVDEP
        for (npy_intp u = 0; u < n; u++) {
            REAL in = gates[u], forget = gates[n + u], cell = gates[2 * n + u], out = gates[3 * n + u];
            REAL slope, bounded = NAME(gs_tanh_and_slope)(cells[u], &slope);
            REAL to_cell = output[u] * out * slope + cells_after[u] * gates_after[n + u] + from_cells[u];
            to_gates[u] = (to_cell * cell + from_gates[u]) * in * (1 - in);
            to_gates[n + u] = (to_cell * before[u] + from_gates[n + u]) * forget * (1 - forget);
            to_gates[2 * n + u] = (to_cell * in + from_gates[2 * n + u]) * (1 - cell * cell);
            to_gates[3 * n + u] = (output[u] * bounded + from_gates[3 * n + u]) * out * (1 - out);
            to_cells[u] = to_cell;
        }
    }
}

static void
NAME(pull_lstm)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    REAL *outputs = ROW(r->to_output, s->row, r->size), *unprojected = NAME(unprojected)(j, s, r->to_output);
    NAME(multiply_after)(j, s, &j->main, 0, 4 * r->hidden, NAME(start)(r->from_output, s->row, r->size), outputs);
    if (r->projection != NULL) {
        NAME(multiply)(&j->second, s->n, outputs, r->size, NULL, 0, unprojected, r->hidden);
    }
    NAME(pull_lstm_gates)(j, s, unprojected);
}

GS_CLONES static void
NAME(push_lstm_gates)(const job *j, const step *s, REAL *outputs)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    for (npy_intp i = 0; i < s->n; i++) {
        const REAL *gates = ROW(r->gates, s->row + i, 4 * n), *cells = ROW(r->cells, s->row + i, n);
        const REAL *before = ROW_BEFORE(r->cells, r->initial_cells, n);
        const REAL *to_before = ROW_BEFORE(r->to_cells, NULL, n);
        const REAL *from_cells = ROW_OR_ZEROS(r->from_cells, s->row + i, n);
        REAL *to_gates = ROW(r->to_gates, s->row + i, 4 * n), *to_cells = ROW(r->to_cells, s->row + i, n);
        REAL *output = outputs + i * n;
        GS_IVDEP
        for (npy_intp u = 0; u < n; u++) {
            REAL in = gates[u], forget = gates[n + u], cell = gates[2 * n + u], out = gates[3 * n + u];
            REAL slope, bounded = NAME(gs_tanh_and_slope)(cells[u], &slope);
            REAL to_in = to_gates[u] * in * (1 - in), to_forget = to_gates[n + u] * forget * (1 - forget);
            REAL to_cell = to_gates[2 * n + u] * (1 - cell * cell), to_out = to_gates[3 * n + u] * out * (1 - out);
            REAL to_next = forget * to_before[u] + to_forget * before[u] + to_in * cell + in * to_cell + from_cells[u];
            to_gates[u] = to_in;
            to_gates[n + u] = to_forget;
            to_gates[2 * n + u] = to_cell;
            to_gates[3 * n + u] = to_out;
            to_cells[u] = to_next;
            output[u] = to_out * bounded + out * slope * to_next;
        }
    }
}

/* to += from */
GS_CLONES static void
NAME(add)(REAL *to, const REAL *from, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        to[i] += from[i];
    }
}

static void
NAME(push_lstm)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp width = 4 * r->hidden;
    REAL *gates = ROW(r->to_gates, s->row, width), *unprojected = NAME(unprojected)(j, s, r->to_output);
    REAL *from = NAME(start)(r->from_output, s->row, r->size), *outputs = ROW(r->to_output, s->row, r->size);
    NAME(multiply_before)(j, s, &j->main, r->to_output, NULL, NAME(start)(r->from_gates, s->row, width), width, gates,
                          width);
    NAME(push_lstm_gates)(j, s, unprojected);
    if (r->projection != NULL) {
        NAME(multiply)(&j->second, s->n, unprojected, r->hidden, from, r->size, outputs, r->size);
    } else if (from != NULL) {
        NAME(add)(outputs, from, s->n * r->size);
    }
}

/* ---- GRU: gates are reset, update, new, and what is reset of the new */

GS_CLONES static void
NAME(run_gru_gates)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    for (npy_intp i = 0; i < s->n; i++) {
        REAL *gates = ROW(r->gates, s->row + i, 4 * n), *output = ROW(r->output, s->row + i, n);
        const REAL *before = ROW_BEFORE(r->output, r->initial, n), *from = ROW(r->from_gates, s->row + i, 3 * n);
        GS_IVDEP
        for (npy_intp u = 0; u < n; u++) {
            REAL reset = NAME(gs_logistic)(gates[u]), update = NAME(gs_logistic)(gates[n + u]);
            REAL new = NAME(gs_tanh)(from[2 * n + u] + reset * gates[3 * n + u]);
            gates[u] = reset;
            gates[n + u] = update;
            gates[2 * n + u] = new;
            output[u] = new + update * (before[u] - new);
        }
    }
}

static void
NAME(run_gru)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    REAL *gates = ROW(r->gates, s->row, 4 * n);
    NAME(multiply_before)(j, s, &j->main, r->output, r->initial, ROW(r->from_gates, s->row, 3 * n), 3 * n, gates, 4 * n);
    NAME(multiply_before)(j, s, &j->second, r->output, r->initial, r->bias, 0, gates + 3 * n, 4 * n);
    NAME(run_gru_gates)(j, s);
}

GS_CLONES static void
NAME(pull_gru_gates)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    for (npy_intp i = 0; i < s->n; i++) {
        const REAL *gates = ROW(r->gates, s->row + i, 4 * n), *before = ROW_BEFORE(r->output, r->initial, n);
        const REAL *output_after = ROW_AFTER(r->to_output, n), *gates_after = ROW_AFTER(r->gates, 4 * n);
        const REAL *from_gates = ROW_OR_ZEROS(r->from_gates, s->row + i, 4 * n);
        REAL *to_gates = ROW(r->to_gates, s->row + i, 4 * n), *to_output = ROW(r->to_output, s->row + i, n);
        GS_IVDEP
        for (npy_intp u = 0; u < n; u++) {
            REAL reset = gates[u], update = gates[n + u], new = gates[2 * n + u], kept = gates[3 * n + u];
            REAL output = to_output[u] + output_after[u] * gates_after[n + u];
            REAL to_new = (output * (1 - update) + from_gates[2 * n + u]) * (1 - new * new);
            to_gates[u] = (to_new * kept + from_gates[u]) * reset * (1 - reset);
            to_gates[n + u] = (output * (before[u] - new) + from_gates[n + u]) * update * (1 - update);
            to_gates[2 * n + u] = to_new;
            to_gates[3 * n + u] = to_new * reset + from_gates[3 * n + u];
            to_output[u] = output;
        }
    }
}

static void
NAME(pull_gru)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    REAL *outputs = ROW(r->to_output, s->row, n);
    NAME(multiply_after)(j, s, &j->main, 0, 4 * n, NAME(start)(r->from_output, s->row, n), outputs);
    NAME(multiply_after)(j, s, &j->second, 3 * n, 4 * n, outputs, outputs);
    NAME(pull_gru_gates)(j, s);
}

GS_CLONES static void
NAME(push_gru_gates)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    for (npy_intp i = 0; i < s->n; i++) {
        const REAL *gates = ROW(r->gates, s->row + i, 4 * n), *before = ROW_BEFORE(r->output, r->initial, n);
        const REAL *to_before = ROW_BEFORE(r->to_output, NULL, n);
        const REAL *from_gates = ROW_OR_ZEROS(r->from_gates, s->row + i, 4 * n);
        const REAL *from_output = ROW_OR_ZEROS(r->from_output, s->row + i, n);
        REAL *to_gates = ROW(r->to_gates, s->row + i, 4 * n), *to_output = ROW(r->to_output, s->row + i, n);
        GS_IVDEP
        for (npy_intp u = 0; u < n; u++) {
            REAL reset = gates[u], update = gates[n + u], new = gates[2 * n + u], kept = gates[3 * n + u];
            REAL to_reset = to_gates[u] * reset * (1 - reset), to_update = to_gates[n + u] * update * (1 - update);
            REAL to_new = (from_gates[2 * n + u] + to_reset * kept + reset * to_gates[3 * n + u]) * (1 - new * new);
            to_gates[u] = to_reset;
            to_gates[n + u] = to_update;
            to_gates[2 * n + u] = to_new;
            to_output[u] = to_new + update * (to_before[u] - to_new) + to_update * (before[u] - new) + from_output[u];
        }
    }
}

static void
NAME(push_gru)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    npy_intp n = r->hidden;
    REAL *gates = ROW(r->to_gates, s->row, 4 * n), *from = NAME(start)(r->from_gates, s->row, 4 * n);
    NAME(multiply_before)(j, s, &j->main, r->to_output, NULL, from, 4 * n, gates, 4 * n);
    NAME(multiply_before)(j, s, &j->second, r->to_output, NULL, from == NULL ? NULL : from + 3 * n, 4 * n, gates + 3 * n,
                          4 * n);
    NAME(push_gru_gates)(j, s);
}

/* ---- RNN: the output is its only gate */

/* Row by row: the last elements of a loop may be rounded otherwise, and these must not depend on the number of rows. */
GS_CLONES static void
NAME(activate)(REAL *a, npy_intp n_rows, npy_intp n, int is_relu)
{
    for (; n_rows > 0; n_rows--, a += n) {
        if (is_relu) {
            GS_IVDEP
            for (npy_intp i = 0; i < n; i++) {
                a[i] = a[i] < 0 ? 0 : a[i];
            }
        } else {
            GS_IVDEP
            for (npy_intp i = 0; i < n; i++) {
                a[i] = NAME(gs_tanh)(a[i]);
            }
        }
    }
}

/* Times the slopes of the activation, given its values. */
GS_CLONES static void
NAME(times_slope)(REAL *a, const REAL *values, npy_intp n, int is_relu)
{
    if (is_relu) {
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            a[i] = values[i] > 0 ? a[i] : 0;
        }
        return;
    }
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        a[i] *= 1 - values[i] * values[i];
    }
}

static void
NAME(run_rnn)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    REAL *outputs = ROW(r->output, s->row, r->size);
    NAME(multiply_before)(j, s, &j->main, r->output, r->initial, ROW(r->from_gates, s->row, r->size), r->size, outputs,
                          r->size);
    NAME(activate)(outputs, s->n, r->size, r->cell == GS_RNN_RELU);
}

static void
NAME(pull_rnn)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    REAL *gates = ROW(r->to_gates, s->row, r->size);
    NAME(multiply_after)(j, s, &j->main, 0, r->size, NAME(start)(r->from_output, s->row, r->size), gates);
    NAME(times_slope)(gates, ROW(r->output, s->row, r->size), s->n * r->size, r->cell == GS_RNN_RELU);
}

static void
NAME(push_rnn)(const job *j, const step *s)
{
    const gs_recurrence *r = j->r;
    REAL *outputs = ROW(r->to_output, s->row, r->size);
    NAME(multiply_before)(j, s, &j->main, r->to_output, NULL, NAME(start)(r->from_gates, s->row, r->size), r->size,
                          outputs, r->size);
    NAME(times_slope)(outputs, ROW(r->output, s->row, r->size), s->n * r->size, r->cell == GS_RNN_RELU);
}

#undef ROW
#undef ROW_OR_ZEROS
#undef ROW_BEFORE
#undef ROW_AFTER
