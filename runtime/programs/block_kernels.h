/* Steps of a program that run without Python and without arrays: loops over memory that is known beforehand. */
#ifndef GRADSMITH_BLOCK_KERNELS_H
#define GRADSMITH_BLOCK_KERNELS_H

#include <Python.h>
#include <stdint.h>
#include <numpy/npy_common.h>

#define GS_BLOCK_INPUTS 4
#define GS_BLOCK_ELEMENTS 4096 /* of a row that is given to a kernel with an operand repeated: the repetition is written out */

typedef enum {
    GS_BLOCK_END,     /* of the steps of a block: after the last one */
    GS_BLOCK_ADD,     /* a sum, a difference, a product, a quotient or the negative of rows, or of rows and single elements */
    GS_BLOCK_SUBTRACT,
    GS_BLOCK_MULTIPLY,
    GS_BLOCK_DIVIDE,
    GS_BLOCK_NEGATE,
    GS_BLOCK_ROWS,    /* one of these, on rows that lie in steps */
    GS_BLOCK_LOOP,    /* a ufunc's inner loop, over one or more rows */
    GS_BLOCK_KERNEL,  /* the loop of an elementwise formula */
    GS_BLOCK_PRODUCT, /* of two matrices */
    GS_BLOCK_MATRIX_VECTOR,
    GS_BLOCK_VECTOR_MATRIX,
    GS_BLOCK_OUTER,
    GS_BLOCK_SUM,     /* over the middle of three dimensions */
    GS_BLOCK_COPY,    /* of bytes side by side */
    GS_BLOCK_MOVE,    /* of elements, in one or more rows of any stride */
    GS_BLOCK_ZERO,    /* of bytes side by side */
    GS_BLOCK_REPEAT,  /* a loop of steps */
    GS_BLOCK_TILES,   /* elementwise steps on large arrays, tile by tile */
    GS_BLOCK_SINGLE,  /* from here on: those five, of one element each; see singles.h */
} gs_block_kind;

/* Kinds of steps on single elements: three forms of five operations in two types.  The forms: both operands are read from
 * memory; the first one, or the second one, is what the step before has made. */
#define GS_BLOCK_SINGLE_KIND(kind, is_double, form) \
    (GS_BLOCK_SINGLE + ((is_double) ? 0 : 15) + 3 * ((kind)-GS_BLOCK_ADD) + (form))

typedef void (*gs_block_loop)(char **args, const npy_intp *dims, const npy_intp *strides, void *data);
typedef void (*gs_block_kernel)(char **args, const double *scalars, npy_intp n);
typedef int (*gs_block_product)(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c);
typedef void (*gs_block_matrix_vector)(
    int type, const void *matrix, npy_intp step, const void *x, void *out, npy_intp rows, npy_intp columns);
typedef void (*gs_block_vector_matrix)(
    int type, const void *x, const void *matrix, npy_intp step, void *out, npy_intp rows, npy_intp columns);
typedef void (*gs_block_outer)(
    int type, const void *x, npy_intp step, const void *y, void *out, npy_intp rows, npy_intp columns);
typedef int (*gs_block_sum)(const void *x, void *out, npy_intp outer, npy_intp r, npy_intp inner);

typedef struct gs_block_repeat gs_block_repeat;
typedef struct gs_block_tiles gs_block_tiles;

/* What few kinds need. */
typedef struct {
    void (*function)(void); /* a gs_block_loop, _kernel, _product or _sum */
    void *data;             /* of a loop */
    npy_intp rows, strides[GS_BLOCK_INPUTS + 1], row_strides[GS_BLOCK_INPUTS + 1]; /* in bytes; the result comes last */
    npy_intp sizes[3];      /* m, k, n of a product; rows, columns, step of one with a vector; outer, r, inner of a sum */
    int type;               /* NumPy's number; of rows the kind of the step on one of them */
    double numbers[8];      /* of a kernel */
    int32_t in[GS_BLOCK_INPUTS - 2]; /* operands after the second one */
    const gs_block_repeat *repeat;
    const gs_block_tiles *tiles;
} gs_block_more;

typedef struct {
    uint8_t kind;
    uint8_t is_double;
    uint8_t n_in;
    uint8_t moving; /* bit i: operand i is a row, not one element */
    int32_t n;      /* elements of the result, or of a row */
    int32_t out;    /* places in the table of addresses */
    int32_t in[2];
    const gs_block_more *more;
} gs_block_step;

/* Steps that run `count` times.  Places of the table from `first` on are the repetition's own: they move by a fixed number of
 * bytes from one time to the next, or are looked up in a list. */
struct gs_block_repeat {
    const gs_block_step *steps;
    Py_ssize_t n_steps, count;
    int32_t first, n_moving, n_listed; /* the listed places come after the moving ones */
    const int32_t *starts;             /* of what moves: the place that has its address the first time */
    const npy_intp *strides;
    const int32_t *listed;             /* count x n_listed: places that have the addresses */
};

/* Elementwise steps, of which each does a tile before the next tile begins, so that what one makes is in the cache when the next
 * one reads it.  Each thread has a table of addresses of its own: of arrays, which move from tile to tile, of single elements,
 * which do not, and of rows in `scratch` for values that nobody else reads. */
struct gs_block_tiles {
    const gs_block_step *steps, *rest; /* for a whole tile, and for what is left over at the end */
    Py_ssize_t n_steps, count, n_rest; /* whole tiles; elements left over */
    Py_ssize_t cost;                   /* of a tile, in additions */
    Py_ssize_t n_local, scratch;       /* addresses; bytes */
    const int32_t *places;             /* of each address: its place in the table of the block; -1 in `scratch` */
    const npy_intp *strides;           /* from tile to tile, in bytes; where in `scratch` */
    Py_ssize_t n_gaps;
    const npy_intp *gaps;              /* of `scratch`, which belong to no row: pairs of place and bytes */
};

/* gs_parallel of the thread pool, which belongs to another module. */
typedef void (*gs_block_task)(void *context, npy_intp first, npy_intp last);
typedef void (*gs_block_parallel)(gs_block_task task, void *context, npy_intp n, npy_intp cost, npy_intp step);
void gs_block_set_parallel(gs_block_parallel parallel);

/* -1 with an exception on failure, which a lack of memory and an interrupt are. */
int gs_run_block(const gs_block_step *steps, Py_ssize_t count, char **addresses);

/* The same steps `times` times.  The `n` places of the table from `first` on move by these bytes, each by its own, after even
 * times and after odd ones.  What goes back and forth is the state of a loop, which is read where the time before wrote it. */
int gs_run_block_often(const gs_block_step *steps, Py_ssize_t count, char **addresses, Py_ssize_t first, Py_ssize_t n,
                       const npy_intp *after_even, const npy_intp *after_odd, Py_ssize_t times);

#endif
