#include "gathering.h"
#include "short_copy.h"

#define VECTORS 8 /* elements of a row, from which on it is filled by vectors */

gs_operand_kind
gs_kind_of(const gs_iteration *it, int operand)
{
    int flat = 1, constant = 1;
    npy_intp stride = it->sizes[operand];
    for (int d = 0; d < it->nd; d++) {
        flat &= it->dims[d] == 1 || it->strides[operand][d] == stride;
        constant &= it->strides[operand][d] == 0;
        stride *= it->dims[d];
    }
    return flat ? GS_FLAT : constant ? GS_CONSTANT : GS_OTHER;
}

/* ---- places */

/* One operand's place in the walk: its pointer at the start of a row, and the index of that row. */
typedef struct {
    npy_intp index[GS_MAX_DIMS];
    char *row;
} cursor;

static void
seek(const gs_iteration *it, int operand, npy_intp row, cursor *c)
{
    c->row = it->data[operand];
    for (int d = 1; d < it->nd; d++) {
        c->index[d] = row % it->dims[d];
        row /= it->dims[d];
        c->row += c->index[d] * it->strides[operand][d];
    }
}

/* Past some rows, of which the last may be the end of the second dimension. */
static void
advance(const gs_iteration *it, int operand, npy_intp n_rows, cursor *c)
{
    const npy_intp *strides = it->strides[operand];
    npy_intp steps = n_rows;
    for (int d = 1; d < it->nd; d++) {
        c->row += steps * strides[d];
        c->index[d] += steps;
        if (c->index[d] < it->dims[d]) {
            return;
        }
        c->row -= strides[d] * it->dims[d];
        c->index[d] = 0;
        steps = 1;
    }
}

char *
gs_place_of(const gs_iteration *it, int operand, npy_intp element)
{
    cursor c;
    seek(it, operand, element / it->dims[0], &c);
    return c.row + element % it->dims[0] * it->strides[operand][0];
}

/* ---- copies */

typedef struct {
    int64_t first, second;
} sixteen_bytes;

#define COPIES(BYTES, TYPE)                                                                                          \
    GS_CLONES static void fill_rows_##BYTES(char *to, const char *row, npy_intp row_stride, npy_intp n,              \
                                            npy_intp n_rows)                                                         \
    {                                                                                                                \
        for (TYPE *start = (TYPE *)to; n_rows > 0; n_rows--, row += row_stride, start += n) {                        \
            TYPE element = *(const TYPE *)row;                                                                       \
            GS_IVDEP for (npy_intp i = 0; i < n; i++)                                                                \
            {                                                                                                        \
                start[i] = element;                                                                                  \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static void copy_rows_##BYTES(char *to, const char *row, npy_intp stride, npy_intp row_stride, npy_intp n,       \
                                  npy_intp n_rows)                                                                   \
    {                                                                                                                \
        TYPE *element = (TYPE *)to;                                                                                  \
        for (; n_rows > 0; n_rows--, row += row_stride) {                                                            \
            for (npy_intp i = 0; i < n; i++) {                                                                       \
                *element++ = *(const TYPE *)(row + i * stride);                                                      \
            }                                                                                                        \
        }                                                                                                            \
    }

COPIES(1, int8_t)
COPIES(2, int16_t)
COPIES(4, int32_t)
COPIES(8, int64_t)
COPIES(16, sixteen_bytes)

/* The one of five functions that is for elements of that size. */
#define BY_SIZE(size, NAME, ...)                \
    switch (size) {                             \
    case 1: NAME##_1(__VA_ARGS__); break;       \
    case 2: NAME##_2(__VA_ARGS__); break;       \
    case 4: NAME##_4(__VA_ARGS__); break;       \
    case 8: NAME##_8(__VA_ARGS__); break;       \
    default: NAME##_16(__VA_ARGS__);            \
    }

void
gs_repeat_element(char *to, const char *from, npy_intp n, npy_intp size)
{
    BY_SIZE(size, fill_rows, to, from, 0, n, 1)
}

static void
gather_part_of_row(char *to, const char *from, npy_intp n, npy_intp stride, npy_intp size)
{
    if (stride == size) {
        memcpy(to, from, (size_t)(n * size));
    } else if (stride == 0) {
        gs_repeat_element(to, from, n, size);
    } else {
        BY_SIZE(size, copy_rows, to, from, stride, 0, n, 1)
    }
}

/* Whole rows that follow each other in the second dimension. */
static void
gather_rows(const gs_iteration *it, int operand, const char *row, npy_intp n_rows, char *to)
{
    npy_intp n = it->dims[0], size = it->sizes[operand], row_size = n * size;
    npy_intp stride = it->strides[operand][0], row_stride = it->strides[operand][1];
    if (stride == size) {
        for (; n_rows > 0; n_rows--, row += row_stride, to += row_size) {
            gs_copy_few(to, row, row_size);
        }
    } else if (stride == 0 && n >= VECTORS) {
        BY_SIZE(size, fill_rows, to, row, row_stride, n, n_rows)
    } else {
        BY_SIZE(size, copy_rows, to, row, stride, row_stride, n, n_rows)
    }
}

void
gs_gather(const gs_iteration *it, int operand, npy_intp first, npy_intp n, char *to)
{
    npy_intp row = it->dims[0], size = it->sizes[operand], stride = it->strides[operand][0];
    npy_intp column = first % row;
    cursor c;
    seek(it, operand, first / row, &c);
    while (n > 0) {
        npy_intp n_rows = it->nd == 1 || column != 0 ? 0 : Py_MIN(n / row, it->dims[1] - c.index[1]);
        npy_intp part = n_rows > 0 ? n_rows * row : Py_MIN(n, row - column);
        if (n_rows > 0) {
            gather_rows(it, operand, c.row, n_rows, to);
        } else {
            gather_part_of_row(to, c.row + column * stride, part, stride, size);
        }
        to += part * size;
        n -= part;
        column = 0;
        advance(it, operand, n_rows > 0 ? n_rows : 1, &c);
    }
}
