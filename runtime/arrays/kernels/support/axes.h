/* The axes argument of a reduction, and the shape it leaves. */
#ifndef GRADSMITH_AXES_H
#define GRADSMITH_AXES_H

#include "numpy_api.h"

GS_HIDDEN_BEGIN

typedef struct {
    int nd;                         /* of the input */
    char reduced[NPY_MAXDIMS];      /* for each of its dimensions */
    int out_dim[NPY_MAXDIMS];       /* the dimension of the result it becomes, -1 when it disappears */
    int out_nd;
    npy_intp out_dims[NPY_MAXDIMS];
    npy_intp count;                 /* elements that go into one of the result */
} gs_axes;

/* axes: None or () for all, an int, or a sequence of ints; negative ones count from the end. */
int gs_axes_parse(gs_axes *axes, PyObject *argument, PyObject *array, int keepdims);

/* The axes along which a broadcast to the array's shape repeated a smaller shape. */
int gs_axes_of_broadcast(gs_axes *axes, PyObject *array, int nd, const npy_intp *dims);

/* A dimension number in 0 <= result < nd, IndexError for others; a 0-d array counts as having one dimension. */
int gs_normalize_axis(npy_intp axis, int nd);

GS_HIDDEN_END

#endif
