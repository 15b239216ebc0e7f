/* Note [Threads of BLAS]
 *
 * NumPy's BLAS has threads of its own, as many as there are cores.  Who limits ours means all that compute: their number
 * is handed on to BLAS, under whichever name the library that NumPy is linked against has for it.  It is looked up where
 * NumPy's own calls lead, so no other copy of a BLAS in the process is touched.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1
#endif
#include "threads/blas_threads.h"
#include "support/numpy_api.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static const char *const names[] = {
    "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads64_",
    "openblas_set_num_threads64",        "openblas_set_num_threads",       "MKL_Set_Num_Threads",
};
static const char blis[] = "bli_thread_set_num_threads"; /* takes a long */

typedef void (*int_setter)(int);
typedef void (*long_setter)(int64_t);

#ifdef _WIN32

typedef HMODULE library;

/* The libraries that NumPy brings along. */
static library
library_of_numpy(PyObject *module)
{
    (void)module;
    static const char *const files[] = {"libscipy_openblas64_.dll", "libscipy_openblas.dll", "libopenblas.dll", "mkl_rt.2.dll"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        library found = GetModuleHandleA(files[i]);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static void *
symbol_of(library found, const char *name)
{
    return (void *)GetProcAddress(found, name);
}

#else

typedef void *library;

/* NumPy's extension; symbols are looked up in it and in what it is linked against. */
static library
library_of_numpy(PyObject *module)
{
    PyObject *path = PyObject_GetAttrString(module, "__file__");
    const char *text = path == NULL ? NULL : PyUnicode_AsUTF8(path);
    library found = text == NULL ? NULL : dlopen(text, RTLD_LAZY | RTLD_NOLOAD);
    Py_XDECREF(path);
    return found;
}

static void *
symbol_of(library found, const char *name)
{
    return dlsym(found, name);
}

#endif

static void
limit_threads_of(library found, int n)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *set = symbol_of(found, names[i]);
        if (set != NULL) {
            ((int_setter)set)(n);
            return;
        }
    }
    void *set = symbol_of(found, blis);
    if (set != NULL) {
        ((long_setter)set)(n);
    }
}

/* A BLAS that has no such function keeps its threads. */
void
gs_limit_blas_threads(int n)
{
    PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath");
    library found = module == NULL ? NULL : library_of_numpy(module);
    if (found != NULL) {
        limit_threads_of(found, n);
    }
    Py_XDECREF(module);
    PyErr_Clear();
}
