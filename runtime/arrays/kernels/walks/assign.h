/* Copying, converting and filling arrays. */
#ifndef GRADSMITH_ASSIGN_H
#define GRADSMITH_ASSIGN_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* The type number behind an array's descriptor whatever its byte order; raises TypeError when it is not numeric. */
int gs_numeric_type(PyObject *array);

/* A new reference to an aligned native array of a type: the array itself, or a converted copy. */
PyObject *gs_prepare(PyObject *array, int type);

/* Raises RuntimeError unless something may be written into the array. */
int gs_check_writable(PyObject *array);

/* Could the arrays share memory?  Exact for plain arrays, may err on the safe side for others. */
int gs_may_overlap(PyObject *a, PyObject *b);

GS_HIDDEN_END

#endif
