/* Note [Recycling arrays]
 *
 * Making an ndarray and its buffer costs 50 ns, taking one from a list costs 5; for large arrays fresh memory costs
 * page faults, several times the work done on it.  So gs_array_release keeps arrays that are *exclusive*
 * (gs_array_is_exclusive), of a native built-in type, and were made here.  With one reference, no base, no weak
 * reference and no exported buffer, nobody can tell that an array was recycled.
 *
 * Arrays that NumPy made on its own account are not kept: they would come in without ever being asked for, each batch
 * of data of a long training, and stay.  Of our own arrays there are never more than were in use at one time.  They are
 * told apart by their memory handler, which does what NumPy's default one does under a name of its own.
 *
 * Cached arrays hang in buckets of equal (bytes, number of dimensions, type).  An array never changes these: NumPy
 * frees shape and data by size.  Shape, strides and flags are rewritten when it is handed out.  The list is threaded through
 * the `base` field, which is NULL in every array that qualifies and is set back to NULL on the way out.
 *
 *     buckets[h] -> array -base-> array -base-> NULL
 *
 * Small and large arrays have separate limits.  When one is reached, the bucket that was used the longest ago is
 * emptied, so that sizes that are no longer needed make room for new ones.
 *
 * All of this runs under the GIL.
 *
 * Note [Lines and pages]
 *
 * The data of all but tiny arrays begin at a cache line, and those of large ones at a page.  Where malloc puts them,
 * vectors reach over two lines; and when a result lies a little behind its operand, modulo 4096, a processor takes loads
 * for dependent on stores just before them, and waits: the same call takes up to twice as long in one process as in
 * another.  Memory from posix_memalign is what `free` and `realloc`, and so NumPy's functions, take.  From HUGE_BYTES on
 * NumPy asks for huge pages itself.
 */
#include "array_cache.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

#include <stdlib.h>

#define N_BUCKETS 512
#define SMALL_BYTES 65536          /* arrays up to here count as small */
#define OVERHEAD 160               /* what an array costs beside its data */
#define SMALL_LIMIT ((size_t)64 << 20)
#define LINE 64
#define LINE_BYTES 512                 /* arrays from here on begin at a cache line */
#define PAGE 4096
#define PAGE_BYTES 32768               /* and from here on at a page */
#define HUGE_BYTES ((npy_intp)4 << 20) /* up to here */

typedef struct {
    PyObject *head;
    npy_intp nbytes;
    uint64_t last_used;
    uint32_t key; /* dimensions and type */
} bucket;

enum { SMALL, LARGE };

static bucket buckets[N_BUCKETS];
static size_t cached_bytes[2];
static size_t limits[2] = {SMALL_LIMIT, 0};
static uint32_t overflows[2];
static uint64_t clock_ticks;
static uint64_t n_recycled;

static inline int
class_of(npy_intp nbytes)
{
    return nbytes > SMALL_BYTES ? LARGE : SMALL;
}

static inline uint32_t
key_of(int nd, int type)
{
    return (uint32_t)nd << 8 | (uint32_t)type;
}

/* A key lives in one of two neighbouring buckets. */
static inline bucket *
first_bucket(npy_intp nbytes, uint32_t key)
{
    uint64_t hash = ((uint64_t)nbytes ^ (uint64_t)key << 40) * 0x9E3779B97F4A7C15u;
    return &buckets[hash >> 55];
}

static inline bucket *
second_bucket(bucket *first)
{
    return &buckets[(first - buckets) ^ 1];
}

static inline int
holds(const bucket *b, npy_intp nbytes, uint32_t key)
{
    return b->nbytes == nbytes && b->key == key;
}

/* ---- taking out */

/* NumPy's rule: an array with at most one dimension longer than 1 is contiguous both ways. */
static int
contiguity(int nd, const npy_intp *dims)
{
    int long_dims = 0;
    for (int i = 0; i < nd; i++) {
        long_dims += dims[i] != 1;
    }
    return long_dims <= 1 ? NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS;
}

static inline PyObject *
take(npy_intp nbytes, int nd, int type)
{
    uint32_t key = key_of(nd, type);
    bucket *b = first_bucket(nbytes, key);
    if (!holds(b, nbytes, key)) {
        b = second_bucket(b);
        if (!holds(b, nbytes, key)) {
            return NULL;
        }
    }
    PyObject *array = b->head;
    if (array == NULL) {
        return NULL;
    }
    PyArrayObject_fields *a = gs_fields(array);
    b->head = a->base;
    a->base = NULL;
    cached_bytes[class_of(nbytes)] -= (size_t)nbytes + OVERHEAD;
    n_recycled++;
    return array;
}

static inline void
set_flags(PyArrayObject_fields *a)
{
    if (a->nd > 1) {
        a->flags = NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE | contiguity(a->nd, a->dimensions);
    }
}

/* The default handler under our name; NULL keeps nothing. */
static PyDataMem_Handler own_functions;
static PyObject *own_handler;

static PyObject *
make_handler(void)
{
    const PyDataMem_Handler *standard = PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
    if (standard == NULL) {
        return NULL;
    }
    own_functions = *standard;
    strcpy(own_functions.name, "gradsmith");
    return PyCapsule_New(&own_functions, "mem_handler", NULL);
}

static PyObject *
new_from_numpy(int type, int nd, const npy_intp *dims)
{
    Py_INCREF(gs_descr[type]);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, gs_descr[type], nd, (npy_intp *)dims, NULL, NULL, 0, NULL);
    if (array != NULL && own_handler != NULL && gs_fields(array)->mem_handler == PyDataMem_DefaultHandler) {
        Py_INCREF(own_handler);
        Py_SETREF(gs_fields(array)->mem_handler, own_handler);
    }
    return array;
}

#ifdef _WIN32

static void *
aligned_memory(npy_intp nbytes)
{
    (void)nbytes;
    return NULL;
}

#else

/* Memory for NumPy's default handler to free; NULL to take the memory that NumPy gives. */
static void *
aligned_memory(npy_intp nbytes)
{
    void *memory = NULL;
    PyObject *handler = own_handler == NULL ? NULL : PyDataMem_GetHandler();
    if (handler == PyDataMem_DefaultHandler && posix_memalign(&memory, nbytes < PAGE_BYTES ? LINE : PAGE, (size_t)nbytes) != 0) {
        memory = NULL;
    }
    Py_XDECREF(handler);
    return memory;
}

#endif

static PyObject *
new_array(int type, int nd, const npy_intp *dims, npy_intp nbytes)
{
    void *memory = nbytes >= LINE_BYTES && nbytes < HUGE_BYTES ? aligned_memory(nbytes) : NULL;
    if (memory == NULL) {
        return new_from_numpy(type, nd, dims);
    }
    Py_INCREF(gs_descr[type]);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, gs_descr[type], nd, (npy_intp *)dims, NULL, memory,
                                           NPY_ARRAY_CARRAY, NULL);
    if (array == NULL) {
        free(memory);
        return NULL;
    }
    Py_INCREF(own_handler);
    gs_fields(array)->mem_handler = own_handler;
    gs_fields(array)->flags |= NPY_ARRAY_OWNDATA;
    return array;
}

PyObject *
gs_array_like(PyObject *model, int type)
{
    PyArrayObject_fields *m = gs_fields(model);
    npy_intp nbytes = gs_size(model) * gs_itemsize[type];
    PyObject *array = take(nbytes, m->nd, type);
    if (array == NULL) {
        return new_array(type, m->nd, m->dimensions, nbytes);
    }
    PyArrayObject_fields *a = gs_fields(array);
    npy_intp stride = gs_itemsize[type];
    for (int i = m->nd - 1; i >= 0; i--) {
        a->dimensions[i] = m->dimensions[i];
        a->strides[i] = stride;
        stride *= m->dimensions[i];
    }
    set_flags(a);
    return array;
}

/* The bytes of an array of this shape; -1 when NumPy had better judge the shape itself (negative, too large). */
static npy_intp
bytes_of(int type, int nd, const npy_intp *dims)
{
    const npy_intp limit = (npy_intp)1 << (sizeof(npy_intp) * 8 - 10);
    npy_intp nbytes = gs_itemsize[type];
    for (int i = 0; i < nd; i++) {
        if (dims[i] < 0 || (dims[i] > 0 && nbytes > limit / dims[i])) {
            return -1;
        }
        nbytes *= dims[i];
    }
    return nbytes;
}

PyObject *
gs_array_new(int type, int nd, const npy_intp *dims)
{
    npy_intp nbytes = bytes_of(type, nd, dims);
    PyObject *array = nbytes > 0 ? take(nbytes, nd, type) : NULL;
    if (array == NULL) {
        return new_array(type, nd, dims, nbytes);
    }
    PyArrayObject_fields *a = gs_fields(array);
    npy_intp stride = gs_itemsize[type];
    for (int i = nd - 1; i >= 0; i--) {
        a->dimensions[i] = dims[i];
        a->strides[i] = stride;
        stride *= dims[i];
    }
    set_flags(a);
    return array;
}

/* ---- putting in */

int
gs_is_exclusive(PyObject *a)
{
    return gs_array_is_exclusive(a);
}


static void
empty_bucket(bucket *b)
{
    PyObject *array = b->head;
    b->head = NULL;
    while (array != NULL) {
        PyArrayObject_fields *a = gs_fields(array);
        PyObject *next = a->base;
        a->base = NULL;
        cached_bytes[class_of(b->nbytes)] -= (size_t)b->nbytes + OVERHEAD;
        Py_DECREF(array);
        array = next;
    }
}

static void
empty_oldest_bucket(int class)
{
    bucket *oldest = NULL;
    for (bucket *b = buckets; b < buckets + N_BUCKETS; b++) {
        if (b->head != NULL && class_of(b->nbytes) == class && (oldest == NULL || b->last_used < oldest->last_used)) {
            oldest = b;
        }
    }
    if (oldest != NULL) {
        empty_bucket(oldest);
    }
}

/* Is there room for one more?  Looking for the oldest bucket takes longer than freeing a small array, so that is done
 * for one overflow in 256 of them. */
static GS_NOINLINE int
make_room(int class, size_t cost)
{
    if (cost > limits[class]) {
        return 0;
    }
    if (class == SMALL && ++overflows[class] % 256 != 0) {
        return 0;
    }
    while (cached_bytes[class] + cost > limits[class]) {
        empty_oldest_bucket(class);
    }
    return 1;
}

static GS_NOINLINE bucket *
claim_bucket(bucket *first, npy_intp nbytes, uint32_t key)
{
    bucket *second = second_bucket(first);
    bucket *b = first->last_used <= second->last_used ? first : second;
    empty_bucket(b);
    b->nbytes = nbytes;
    b->key = key;
    return b;
}

static inline bucket *
bucket_for(npy_intp nbytes, uint32_t key)
{
    bucket *first = first_bucket(nbytes, key);
    if (GS_LIKELY(holds(first, nbytes, key))) {
        return first;
    }
    bucket *second = second_bucket(first);
    return holds(second, nbytes, key) ? second : claim_bucket(first, nbytes, key);
}

void
gs_array_release(PyObject *array)
{
    int type = gs_type(array);
    if (type < 0 || !gs_array_is_exclusive(array) || gs_fields(array)->mem_handler != own_handler) {
        Py_DECREF(array);
        return;
    }
    PyArrayObject_fields *a = gs_fields(array);
    npy_intp nbytes = gs_size(array) * gs_itemsize[type];
    int class = class_of(nbytes);
    size_t cost = (size_t)nbytes + OVERHEAD;
    if (nbytes == 0 || (GS_UNLIKELY(cached_bytes[class] + cost > limits[class]) && !make_room(class, cost))) {
        Py_DECREF(array);
        return;
    }
    bucket *b = bucket_for(nbytes, key_of(a->nd, type));
    b->last_used = ++clock_ticks;
    a->base = b->head;
    b->head = array;
    cached_bytes[class] += cost;
}

/* ---- settings */

static size_t
physical_memory(void)
{
#ifdef _WIN32
    MEMORYSTATUSEX status = {.dwLength = sizeof(status)};
    return GlobalMemoryStatusEx(&status) ? (size_t)status.ullTotalPhys : 0;
#else
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
#endif
}

#ifdef Py_GIL_DISABLED

int gs_has_lock = 0;

/* Asked for while this library is imported, which is what turns the lock on for good, unless that was forbidden. */
static int
lock_is_on(void)
{
    PyObject *function = PySys_GetObject("_is_gil_enabled");
    PyObject *answer = function == NULL ? NULL : PyObject_CallNoArgs(function);
    int is_on = answer == Py_True;
    Py_XDECREF(answer);
    return is_on;
}

#endif

void
gs_cache_init(void)
{
#ifdef Py_GIL_DISABLED
    gs_has_lock = lock_is_on();
#endif
    size_t share = physical_memory() / 8;
    size_t most = (size_t)4 << 30;
    limits[LARGE] = share < most ? share : most;
    own_handler = make_handler();
    PyErr_Clear();
}

void
gs_cache_clear(void)
{
    for (bucket *b = buckets; b < buckets + N_BUCKETS; b++) {
        empty_bucket(b);
    }
}

void
gs_cache_set_limit(size_t nbytes)
{
    limits[LARGE] = nbytes;
    limits[SMALL] = nbytes < SMALL_LIMIT ? nbytes : SMALL_LIMIT;
    for (int class = SMALL; class <= LARGE; class++) {
        while (cached_bytes[class] > limits[class]) {
            empty_oldest_bucket(class);
        }
    }
}

size_t
gs_cache_limit(void)
{
    return limits[LARGE];
}

size_t
gs_cache_bytes(void)
{
    return cached_bytes[SMALL] + cached_bytes[LARGE];
}

uint64_t
gs_cache_recycled(void)
{
    return n_recycled;
}
