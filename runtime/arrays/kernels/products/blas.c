/* Note [Threads of BLAS]
 *
 * NumPy's BLAS has threads of its own, as many as there are cores, and so has SciPy's, which is another copy.  Who limits
 * ours means all that compute: their number is handed on to both, under whichever name each library has for it.  It is
 * looked up where NumPy's and SciPy's own calls lead, so no other copy of a BLAS in the process is touched.  SciPy may be
 * imported after the limit was set: then it is limited when an op first uses it.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1
#endif
#include "products/blas.h"
#include "support/numpy_api.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static const char *const setters[] = {
    "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads64_",
    "openblas_set_num_threads64",        "openblas_set_num_threads",       "MKL_Set_Num_Threads",
    NULL,
};
static const char *const blis_setters[] = {"bli_thread_set_num_threads", NULL}; /* takes a long */
static const char *const getters[] = {
    "scipy_openblas_get_num_threads64_", "scipy_openblas_get_num_threads", "openblas_get_num_threads64_",
    "openblas_get_num_threads64",        "openblas_get_num_threads",       "MKL_Get_Max_Threads",
    NULL,
};
static const char *const core_names[] = {
    "scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename64_",
    "openblas_get_corename64",        "openblas_get_corename",       NULL,
};

typedef void (*int_setter)(int);
typedef int (*int_getter)(void);
typedef void (*long_setter)(int64_t);
typedef char *(*name_getter)(void);

#ifdef _WIN32

typedef HMODULE library;

/* The first of these libraries that is loaded. */
static library
first_loaded(const char *const *files)
{
    for (; *files != NULL; files++) {
        library found = GetModuleHandleA(*files);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static library
library_of_numpy(void)
{
    static const char *const files[] = {"libscipy_openblas64_.dll", "libscipy_openblas.dll", "libopenblas.dll",
                                        "mkl_rt.2.dll", NULL};
    return first_loaded(files);
}

static library
library_of_scipy(void)
{
    static const char *const files[] = {"libscipy_openblas.dll", NULL};
    return first_loaded(files);
}

static void *
symbol_of(library found, const char *name)
{
    return (void *)GetProcAddress(found, name);
}

#else

typedef void *library;

/* An extension, if it is imported; symbols are looked up in it and in what it is linked against. */
static library
library_of(const char *extension)
{
    PyObject *name = PyUnicode_FromString(extension);
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *path = module == NULL ? NULL : PyModule_GetFilenameObject(module);
    const char *text = path == NULL ? NULL : PyUnicode_AsUTF8(path);
    library found = text == NULL ? NULL : dlopen(text, RTLD_LAZY | RTLD_NOLOAD);
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(path);
    PyErr_Clear();
    return found;
}

static library
library_of_numpy(void)
{
    return library_of("numpy._core._multiarray_umath");
}

static library
library_of_scipy(void)
{
    return library_of("scipy.linalg._fblas");
}

static void *
symbol_of(library found, const char *name)
{
    return dlsym(found, name);
}

#endif

/* The first of these functions that there is. */
static void *
find_function(library found, const char *const *candidates)
{
    for (; found != NULL && *candidates != NULL; candidates++) {
        void *function = symbol_of(found, *candidates);
        if (function != NULL) {
            return function;
        }
    }
    return NULL;
}

/* A BLAS that has no such function keeps its threads. */
static void
limit_threads_of(library found, int n)
{
    void *set = find_function(found, setters);
    if (set != NULL) {
        ((int_setter)set)(n);
    } else if ((set = find_function(found, blis_setters)) != NULL) {
        ((long_setter)set)(n);
    }
}

static int limit = 0; /* none was asked for */

void
gs_limit_blas_threads(int n)
{
    limit = n;
    limit_threads_of(library_of_numpy(), n);
    limit_threads_of(library_of_scipy(), n);
}

void
gs_limit_threads_of_scipy(void)
{
    if (limit > 0) {
        limit_threads_of(library_of_scipy(), limit);
    }
}

static int
threads_of(library found)
{
    void *get = find_function(found, getters);
    return get != NULL ? ((int_getter)get)() : 0;
}

gs_blas_threads
gs_get_blas_threads(void)
{
    return (gs_blas_threads){limit, threads_of(library_of_numpy()), threads_of(library_of_scipy())};
}

void
gs_put_blas_threads(gs_blas_threads before)
{
    /* A SciPy that was not there yet gets what NumPy had: its BLAS reads the same environment. */
    int scipy = before.scipy > 0 ? before.scipy : before.numpy;
    limit = before.limit;
    if (before.numpy > 0) {
        limit_threads_of(library_of_numpy(), before.numpy);
    }
    if (scipy > 0) {
        limit_threads_of(library_of_scipy(), scipy);
    }
}

void *
gs_function_of_numpy(const char *const *names)
{
    return find_function(library_of_numpy(), names);
}

static int
names_avx512_core(const char *name)
{
    return name != NULL &&
           (strcmp(name, "SkylakeX") == 0 || strcmp(name, "Cooperlake") == 0 || strcmp(name, "SapphireRapids") == 0);
}

int
gs_blas_uses_avx512(void)
{
    static int known = -1;
    if (known < 0) {
        void *get = find_function(library_of_numpy(), core_names);
        known = get != NULL && names_avx512_core(((name_getter)get)());
    }
    return known;
}
