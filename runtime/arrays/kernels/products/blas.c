/* Note [Threads of BLAS]
 *
 * NumPy's BLAS has threads of its own, as many as there are cores.  Who limits ours means all that compute: their number
 * is handed on to BLAS, under whichever name the library that NumPy is linked against has for it.  It is looked up where
 * NumPy's own calls lead, so no other copy of a BLAS in the process is touched.
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
static const char *const core_names[] = {
    "scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename64_",
    "openblas_get_corename64",        "openblas_get_corename",       NULL,
};

typedef void (*int_setter)(int);
typedef void (*long_setter)(int64_t);
typedef char *(*name_getter)(void);

#ifdef _WIN32

typedef HMODULE library;

/* A library that NumPy brings along. */
static library
find_library(void)
{
    static const char *const files[] = {"libscipy_openblas64_.dll", "libscipy_openblas.dll", "libopenblas.dll",
                                        "mkl_rt.2.dll"};
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
find_library(void)
{
    PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath");
    PyObject *path = module == NULL ? NULL : PyObject_GetAttrString(module, "__file__");
    const char *text = path == NULL ? NULL : PyUnicode_AsUTF8(path);
    library found = text == NULL ? NULL : dlopen(text, RTLD_LAZY | RTLD_NOLOAD);
    Py_XDECREF(module);
    Py_XDECREF(path);
    PyErr_Clear();
    return found;
}

static void *
symbol_of(library found, const char *name)
{
    return dlsym(found, name);
}

#endif

/* The first of these functions that there is. */
static void *
find_function(const char *const *candidates)
{
    library found = find_library();
    for (; found != NULL && *candidates != NULL; candidates++) {
        void *function = symbol_of(found, *candidates);
        if (function != NULL) {
            return function;
        }
    }
    return NULL;
}

/* A BLAS that has no such function keeps its threads. */
void
gs_limit_blas_threads(int n)
{
    void *set = find_function(setters);
    if (set != NULL) {
        ((int_setter)set)(n);
    } else if ((set = find_function(blis_setters)) != NULL) {
        ((long_setter)set)(n);
    }
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
        void *get = find_function(core_names);
        known = get != NULL && names_avx512_core(((name_getter)get)());
    }
    return known;
}
