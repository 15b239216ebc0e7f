/* The class `gradsmith.Size`: a tuple of ints that can count the elements of a tensor of that shape.
 *
 * Everything that is asked of a shape all the time, an item or its length, is what tuple has, and what gives another
 * tuple gives a Size again.  It is written in C because Cython has no classes over tuple.
 *
 * The items are ints, which lead nowhere, so the cyclic collector need not know of a Size: a third of its price.
 */
#ifndef GRADSMITH_SIZE_H
#define GRADSMITH_SIZE_H

#include <Python.h>
#include <numpy/ndarraytypes.h>

static PyTypeObject gs_size_type;

static PyObject *gs_empty_size(Py_ssize_t length)
{
    PyObject *size = gs_size_type.tp_alloc(&gs_size_type, length);
#if PY_VERSION_HEX >= 0x030E0000
    if (size != NULL)
        ((PyTupleObject *)size)->ob_hash = -1; /* not known yet */
#endif
    return size;
}

/* The items of a tuple, ints, as a Size.  Takes the reference over. */
static PyObject *gs_as_size(PyObject *tuple)
{
    PyObject *size;
    Py_ssize_t i;
    if (tuple == NULL || !PyTuple_Check(tuple))
        return tuple;
    size = gs_empty_size(PyTuple_GET_SIZE(tuple));
    if (size != NULL)
        for (i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
            PyObject *item = PyTuple_GET_ITEM(tuple, i);
            Py_INCREF(item);
            PyTuple_SET_ITEM(size, i, item);
        }
    Py_DECREF(tuple);
    return size;
}

static PyObject *gs_size_of(int ndim, const npy_intp *dims)
{
    PyObject *size = gs_empty_size(ndim);
    for (int i = 0; size != NULL && i < ndim; i++) {
        PyObject *item = PyLong_FromSsize_t(dims[i]);
        if (item == NULL)
            Py_CLEAR(size);
        else
            PyTuple_SET_ITEM(size, i, item);
    }
    return size;
}

/* A plain int for an item; +True is 1. */
static PyObject *gs_int_of(PyObject *item, Py_ssize_t place)
{
    PyObject *number = PyLong_Check(item) ? PyNumber_Positive(item) : PyNumber_Index(item);
    if (number == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "Size() takes an iterable of 'int' (item %zd is '%s')", place,
                     Py_TYPE(item)->tp_name);
    return number;
}

/* A Size with ints for the items of a tuple, which may hold anything, another Size too.  Takes the reference over. */
static PyObject *gs_size_of_items(PyObject *tuple)
{
    PyObject *size = gs_empty_size(PyTuple_GET_SIZE(tuple));
    for (Py_ssize_t i = 0; size != NULL && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *number = gs_int_of(PyTuple_GET_ITEM(tuple, i), i);
        if (number == NULL)
            Py_CLEAR(size);
        else
            PyTuple_SET_ITEM(size, i, number);
    }
    Py_DECREF(tuple);
    return size;
}

/* Not by way of tuple's own: that hands what it makes to the cyclic collector. */
static PyObject *gs_new_size(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *items = NULL, *tuple;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0)
        return PyErr_Format(PyExc_TypeError, "Size() takes no keyword arguments");
    if (!PyArg_UnpackTuple(args, "Size", 0, 1, &items))
        return NULL;
    tuple = items == NULL ? PyTuple_New(0) : PySequence_Tuple(items);
    return tuple == NULL ? NULL : gs_size_of_items(tuple);
}

static PyObject *gs_size_item(PyObject *self, PyObject *index)
{
    PyObject *found = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
    return PySlice_Check(index) ? gs_as_size(found) : found;
}

/* A tuple of whatever may be added: an error for what is no int. */
static PyObject *gs_joined(PyObject *one, PyObject *other)
{
    PyObject *tuple = PyTuple_Type.tp_as_sequence->sq_concat(one, other);
    return tuple == NULL ? NULL : gs_size_of_items(tuple);
}

/* Either may be the Size.  Two tuples that are none: tuple itself adds them. */
static PyObject *gs_size_add(PyObject *self, PyObject *other)
{
    if (!PyTuple_Check(self) || !PyTuple_Check(other))
        Py_RETURN_NOTIMPLEMENTED;
    return gs_joined(self, other);
}

static PyObject *gs_size_concat(PyObject *self, PyObject *other)
{
    if (!PyTuple_Check(other))
        return PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to gradsmith.Size",
                            Py_TYPE(other)->tp_name);
    return gs_joined(self, other);
}

static PyObject *gs_size_repeat(PyObject *self, Py_ssize_t count)
{
    return gs_as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, count));
}

static PyObject *gs_size_numel(PyObject *self, PyObject *ignored)
{
    PyObject *count = PyLong_FromLong(1);
    for (Py_ssize_t i = 0; count != NULL && i < PyTuple_GET_SIZE(self); i++)
        Py_SETREF(count, PyNumber_Multiply(count, PyTuple_GET_ITEM(self, i)));
    return count;
}

static PyMethodDef gs_size_methods[] = {
    {"numel", gs_size_numel, METH_NOARGS, "numel($self)\n--\n\nNumber of elements of a tensor of this shape."},
    {NULL, NULL, 0, NULL},
};

/* No sq_repeat or sq_item beyond tuple's own where they give no tuple. */
static PySequenceMethods gs_size_sequence = {.sq_concat = gs_size_concat, .sq_repeat = gs_size_repeat};
static PyMappingMethods gs_size_mapping = {.mp_subscript = gs_size_item};
static PyNumberMethods gs_size_number = {.nb_add = gs_size_add};

static void gs_free_size(PyObject *self)
{
    for (Py_ssize_t i = PyTuple_GET_SIZE(self); --i >= 0;)
        Py_XDECREF(PyTuple_GET_ITEM(self, i));
    PyObject_Free(self);
}

/* Only a type that has a way to go through its items may do without the collector that tuple has. */
static int gs_visit_nothing(PyObject *self, visitproc visit, void *arg) { return 0; }

static PyTypeObject gs_size_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradsmith.Size",
    .tp_doc = "Size(iterable=(), /)\n--\n\nShape of a tensor: a tuple of ints.",
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = gs_free_size,
    .tp_traverse = gs_visit_nothing,
    .tp_alloc = PyType_GenericAlloc,
    .tp_free = PyObject_Free,
    .tp_new = gs_new_size,
    .tp_methods = gs_size_methods,
    .tp_as_sequence = &gs_size_sequence,
    .tp_as_mapping = &gs_size_mapping,
    .tp_as_number = &gs_size_number,
};

static PyObject *gs_ready_size(void)
{
    gs_size_type.tp_base = &PyTuple_Type;
    if (PyType_Ready(&gs_size_type) < 0)
        return NULL;
    Py_INCREF(&gs_size_type);
    return (PyObject *)&gs_size_type;
}

#endif
