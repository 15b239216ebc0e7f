"""Array kernels: the one door to ``runtime/arrays/kernels``.

Every function takes borrowed ``PyObject *`` of exact ``numpy.ndarray`` objects, of any dtype, layout and alignment, and
returns a new reference, NULL with an exception set on failure. Nothing here knows about tensors or gradients.

Elementwise results keep the order of dimensions that its operands have in memory; see Note [Order of
dimensions] in kernels/order.h.

Fast is: native f4, f8 (also c8, c16, integers and bool for ufuncs), aligned operands. Everything else is computed by
NumPy's public functions, silently and with the same result.
"""

from cpython.ref cimport PyObject
from numpy cimport npy_int64, npy_intp

cdef extern from "runtime/arrays/kernels/support/ufunc_loops.h":
    # The ufuncs by their NumPy names; see kernels/ufunc_list.h.
    ctypedef enum Ufunc "gs_ufunc":
        ADD "GS_ADD"
        SUBTRACT "GS_SUBTRACT"
        MULTIPLY "GS_MULTIPLY"
        TRUE_DIVIDE "GS_TRUE_DIVIDE"
        FLOOR_DIVIDE "GS_FLOOR_DIVIDE"
        REMAINDER "GS_REMAINDER"
        FMOD "GS_FMOD"
        POWER "GS_POWER"
        NEGATIVE "GS_NEGATIVE"
        POSITIVE "GS_POSITIVE"
        ABSOLUTE "GS_ABSOLUTE"
        SIGN "GS_SIGN"
        EXP "GS_EXP"
        EXP2 "GS_EXP2"
        EXPM1 "GS_EXPM1"
        LOG "GS_LOG"
        LOG2 "GS_LOG2"
        LOG10 "GS_LOG10"
        LOG1P "GS_LOG1P"
        SQRT "GS_SQRT"
        SQUARE "GS_SQUARE"
        RECIPROCAL "GS_RECIPROCAL"
        CBRT "GS_CBRT"
        SIN "GS_SIN"
        COS "GS_COS"
        TAN "GS_TAN"
        ARCSIN "GS_ARCSIN"
        ARCCOS "GS_ARCCOS"
        ARCTAN "GS_ARCTAN"
        SINH "GS_SINH"
        COSH "GS_COSH"
        TANH "GS_TANH"
        ARCSINH "GS_ARCSINH"
        ARCCOSH "GS_ARCCOSH"
        ARCTANH "GS_ARCTANH"
        ARCTAN2 "GS_ARCTAN2"
        HYPOT "GS_HYPOT"
        LOGADDEXP "GS_LOGADDEXP"
        LOGADDEXP2 "GS_LOGADDEXP2"
        COPYSIGN "GS_COPYSIGN"
        NEXTAFTER "GS_NEXTAFTER"
        MAXIMUM "GS_MAXIMUM"
        MINIMUM "GS_MINIMUM"
        FMAX "GS_FMAX"
        FMIN "GS_FMIN"
        CONJUGATE "GS_CONJUGATE"
        FLOOR "GS_FLOOR"
        CEIL "GS_CEIL"
        TRUNC "GS_TRUNC"
        RINT "GS_RINT"
        EQUAL "GS_EQUAL"
        NOT_EQUAL "GS_NOT_EQUAL"
        LESS "GS_LESS"
        LESS_EQUAL "GS_LESS_EQUAL"
        GREATER "GS_GREATER"
        GREATER_EQUAL "GS_GREATER_EQUAL"
        LOGICAL_AND "GS_LOGICAL_AND"
        LOGICAL_OR "GS_LOGICAL_OR"
        LOGICAL_XOR "GS_LOGICAL_XOR"
        LOGICAL_NOT "GS_LOGICAL_NOT"
        BITWISE_AND "GS_BITWISE_AND"
        BITWISE_OR "GS_BITWISE_OR"
        BITWISE_XOR "GS_BITWISE_XOR"
        INVERT "GS_INVERT"
        LEFT_SHIFT "GS_LEFT_SHIFT"
        RIGHT_SHIFT "GS_RIGHT_SHIFT"
        GCD "GS_GCD"
        LCM "GS_LCM"
        ISNAN "GS_ISNAN"
        ISINF "GS_ISINF"
        ISFINITE "GS_ISFINITE"
        SIGNBIT "GS_SIGNBIT"

cdef extern from "runtime/arrays/kernels/fused.h":
    ctypedef struct FusedKernel "gs_fused_kernel":
        const char *name
        unsigned char n_inputs
        unsigned char n_scalars
        unsigned char cost
        unsigned char inputs[8]
        unsigned char scalars[8]
    int GS_GRAD
    int GS_SAVED
    const FusedKernel gs_pass

# ---- pointwise

cdef PyObject *unary(int ufunc, PyObject *a) except NULL
cdef PyObject *binary(int ufunc, PyObject *a, PyObject *b) except NULL
cdef PyObject *binary_scalar(int ufunc, PyObject *a, object number, bint number_first) except NULL

# The result goes into `out`, whose shape must be the broadcast shape and whose dtype must be able to hold the result's.
# `out` may share memory with the operands in any way. A failed call changes nothing.
cdef int unary_into(int ufunc, PyObject *a, PyObject *out) except -1
cdef int binary_into(int ufunc, PyObject *a, PyObject *b, PyObject *out) except -1
cdef int binary_scalar_into(int ufunc, PyObject *a, object number, bint number_first, PyObject *out) except -1

# NULL without an exception: the inputs are not all f4 or all f8, take the general path. `reuse` is an array that the
# caller alone owns, or NULL; it is overwritten and returned when it has the result's exact layout. It may be an input.
cdef PyObject *fused(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse) except? NULL
# The sum of the result and itself.
cdef PyObject *fused_doubled(
    const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse
) except? NULL
# The sum of the result to a shape that broadcasts to its own, as `sum_to` takes it, without an array for the result; NULL
# without an exception also where an array does as well.
cdef PyObject *fused_sum(
    const FusedKernel *kernel, PyObject **inputs, const double *scalars, int ndim, const npy_intp *dims
) except? NULL
# The same written over `out`, which is one of the inputs or shares no memory with them. 0: nothing was written, since
# the inputs are not all f4 or all f8, nor all f2 of one shape without gaps, or `out` is not of the result's shape and type
# and without gaps.
cdef int fused_over(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *out) except -1

# condition ? a : b with broadcasting; condition is a bool array, a and b are promoted.
cdef PyObject *where(PyObject *condition, PyObject *a, PyObject *b) except NULL

# ---- allocation and ownership

cdef PyObject *empty_array(int type_num, int ndim, const npy_intp *dims) except NULL   # C-contiguous, uninitialised
# The same, with its dimensions in memory in the order of those of `model`, which has as many.
cdef PyObject *empty_in_order(PyObject *model, int type_num, int ndim, const npy_intp *dims) except NULL
cdef PyObject *full_array(int type_num, int ndim, const npy_intp *dims, object number) except NULL
cdef PyObject *clone(PyObject *a) except NULL                                          # dimensions in the same order
cdef PyObject *clone_by_rows(PyObject *a) except NULL                                  # C-contiguous copy
cdef PyObject *contiguous(PyObject *a) except NULL                                     # `a` itself when it already is
cdef PyObject *cast(PyObject *a, int type_num) except NULL                             # `a` itself when it already is
cdef object empty_like(object a, object dtype)             # shape and order of `a`, uninitialised; a native dtype
cdef bint is_dense(PyObject *a) noexcept                   # elements side by side, whatever the order of dimensions
cdef int copy_into(PyObject *out, PyObject *a) except -1                               # broadcast, cast, overlap-safe
cdef int fill(PyObject *out, object number) except -1
# Gives up one owned reference: the array is kept for reuse when nobody else can see it, else its reference is dropped.
cdef void release_array(PyObject *a) noexcept
# May the holder of this one reference overwrite the array, unseen by anybody? (one reference, own plain memory)
cdef bint is_exclusive(PyObject *a) noexcept
# *slot += value, both owned; adds in place into a side that is exclusive. An empty slot takes the value. `value` is
# always consumed; after an error the slot is as before.
cdef int accumulate(PyObject **slot, PyObject *value) except -1

# ---- arrays without data, of tensors on the meta device; see kernels/meta.h

cdef bint is_meta(PyObject *a) noexcept
cdef bint is_stand_in(PyObject *a) noexcept                # made here, not a view that NumPy made of one
cdef PyObject *meta_array(int type_num, int ndim, const npy_intp *dims) except NULL
# The same with `batch` for its base: the array of a batched tensor; see runtime/batching.
cdef PyObject *batched_array(int type_num, int ndim, const npy_intp *dims, object batch) except NULL
cdef bint is_batched_array(PyObject *a) noexcept
# The same with `rows` for its base: that of an indexed gradient; see runtime/graph/indexed_rows.pyx.
cdef PyObject *indexed_array(int type_num, int ndim, const npy_intp *dims, object rows) except NULL
cdef bint is_indexed_array(PyObject *a) noexcept
cdef bint is_on_meta(PyObject *a) noexcept                 # of a tensor on the meta device, which has data nowhere
# A copy in the same type for those who only read it: of an array without data that is another one.
cdef object readable_copy(object a)
ctypedef void (*meta_listener)(int in_use) noexcept
cdef void report_meta_to(meta_listener listener) noexcept  # when the first such array is made, and when the last dies

# ---- convolutions; see kernels/windows/convolution.h

cdef extern from "runtime/arrays/kernels/windows/convolution.h":
    ctypedef struct Convolution "gs_convolution":
        int type
        npy_intp images, groups, inner, outer
        npy_intp[3] image, window, output, stride, dilation, padding

cdef int convolve_output(
    const Convolution *c, const void *image, const void *weight, const void *bias, void *output) except -1
cdef int convolve_image(const Convolution *c, const void *output, const void *weight, void *image) except -1
cdef int convolve_weight(const Convolution *c, const void *output, const void *image, void *weight) except -1

# ---- windows; see kernels/windows/pooling.h

cdef extern from "runtime/arrays/kernels/windows/pooling.h":
    ctypedef struct Windows "gs_windows":
        int type
        npy_intp images
        npy_intp[3] image, output, step
        const npy_intp *spans[3]
        const npy_intp *divisors[3]
    ctypedef struct Places "gs_places":
        int type
        npy_intp images, size, n_places

cdef int window_maxima(const Windows *w, const void *image, void *maxima, npy_int64 *places) except -1
cdef int window_means(const Windows *w, const void *image, void *means) except -1
cdef int spread_means(const Windows *w, const void *means, void *image) except -1
cdef int take_places(const Places *p, const void *image, const npy_int64 *places, void *found) except -1
cdef int add_to_places(const Places *p, const void *values, const npy_int64 *places, void *image) except -1

# ---- samples; see kernels/sampling/sampling.h

cdef extern from "runtime/arrays/kernels/sampling/sampling.h":
    ctypedef struct Samples "gs_samples":
        int type
        npy_intp images, channels, size, taps, points

cdef int sample(
    const Samples *s, const void *image, const void *weights, const npy_int64 *places, void *values) except -1
cdef int spread_samples(
    const Samples *s, const void *values, const void *weights, const npy_int64 *places, void *image) except -1
cdef int weigh_samples(
    const Samples *s, const void *values, const void *image, const npy_int64 *places, void *weights) except -1

# ---- images of other sizes; see kernels/sampling/resampling.h

cdef extern from "runtime/arrays/kernels/sampling/resampling.h":
    ctypedef struct Resampling "gs_resampling":
        int type
        npy_intp images, inner
        npy_intp[2] from_ "from"
        npy_intp[2] to
        npy_intp[2] most
        const npy_intp *spans[2]
        const void *weights[2]

cdef int resample(const Resampling *r, const void *image, void *result) except -1

# ---- networks: a job is the struct that the header of the kernels describes, see kernels/networks

cdef int standardize(
    const void *job, const void *x, const void *weight, const void *bias, void *result, void *mean, void *var) except -1
cdef int standardize_backward(
    const void *job, const void *grad, const void *x, const void *weight, const void *mean, const void *var,
    void *result) except -1
cdef int standardize_sums(
    const void *job, const void *grad, const void *x, const void *mean, const void *var, void *sums) except -1
cdef int class_losses(const void *job, const void *x, const npy_intp *classes, void *losses, void *logsumexp) except -1
cdef int class_losses_backward(
    const void *job, const void *grad, const void *x, const npy_intp *classes, const void *logsumexp,
    void *result) except -1
cdef int attend(
    const void *job, const void *query, const void *key, const void *value, const void *mask, void *result,
    void *logsumexp) except -1
cdef int attend_backward(
    const void *job, const void *query, const void *key, const void *value, const void *mask, const void *grad,
    const void *logsumexp, const void *delta, void **grads) except -1

# ---- sequences; see kernels/sequences/recurrence.h and ctc.h

cdef extern from "runtime/arrays/kernels/sequences/recurrence.h":
    ctypedef enum gs_recurrent_cell:
        GS_LSTM, GS_GRU, GS_RNN_TANH, GS_RNN_RELU
    ctypedef enum gs_recurrent_pass:
        GS_RUN, GS_PULL, GS_PUSH
    ctypedef struct Recurrence "gs_recurrence":
        int type
        gs_recurrent_cell cell
        gs_recurrent_pass direction "pass"
        bint reverse
        npy_intp batch, steps, hidden, size
        const npy_intp *starts
        const void *weight
        const void *projection
        const void *bias
        const void *initial
        const void *initial_cells
        void *output
        void *gates
        void *cells
        const void *from_output
        const void *from_gates
        const void *from_cells
        void *to_output
        void *to_gates
        void *to_cells

cdef extern from "runtime/arrays/kernels/sequences/ctc.h":
    ctypedef struct Alignments "gs_ctc":
        int type
        npy_intp steps, batch, classes, blank, most_labels
        const npy_int64 *labels
        const npy_int64 *label_starts
        const npy_int64 *label_counts
        const npy_int64 *step_counts
        const void *log_probs
        const void *scales
        const void *direction

cdef int recur(const Recurrence *r) except -1
cdef int ctc_losses(const Alignments *c, void *losses) except -1
cdef int ctc_slopes(const Alignments *c, void *slopes) except -1
cdef int ctc_curvature(const Alignments *c, void *curvature) except -1

# ---- factors of matrices; see kernels/factors/lu.h, cholesky.h, and kernels/decompositions/decompositions.h

cdef extern from "runtime/arrays/kernels/decompositions/decompositions.h":
    ctypedef struct QRResults "gs_qr_results":
        void *basis
        void *triangle
        void *parts
        void *factors

cdef int lu(int type, void *a, int *pivots, npy_intp count, npy_intp m, npy_intp n) except -1
cdef int lu_solve(
    int type, const void *factors, const int *pivots, npy_intp step, void *x, npy_intp count, npy_intp n, npy_intp k,
    bint transposed) except -1
cdef int lu_inverse(
    int type, const void *factors, const int *pivots, void *inverse, npy_intp count, npy_intp n) except -1
cdef int solve_triangular(
    int type, const void *a, npy_intp a_row, npy_intp a_column, npy_intp a_step, bint upper, bint unitriangular, void *x,
    npy_intp count, npy_intp n, npy_intp k) except -1
cdef int cholesky(int type, const void *a, void *factors, int *orders, npy_intp count, npy_intp n) except -1
cdef int cholesky_slope(
    int type, const void *factors, const void *gradients, void *slopes, npy_intp count, npy_intp n) except -1
cdef int qr(
    int type, const void *a, const QRResults *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k) except -1
cdef bint can_decompose() noexcept
cdef npy_intp eigh(int type, const void *a, void *values, void *vectors, npy_intp count, npy_intp n) except -1
cdef npy_intp svd(
    int type, const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n,
    npy_intp left) except -1

# ---- types

cdef int default_type() noexcept                           # NumPy type number of the default dtype (float32, float64)
cdef int promote_types(int a, int b) except -1             # PyTorch's table over two type numbers
cdef int result_type_of(PyObject *a, PyObject *b) except -1     # of two arrays, where 0-d arrays are weak

# ---- reductions; axes: None (all), an int or a tuple of ints, negative allowed

cdef PyObject *sum_axes(PyObject *a, object axes, bint keepdims) except NULL
cdef PyObject *mean_axes(PyObject *a, object axes, bint keepdims) except NULL
# Sum of what is no NaN, and product, of float32 and float64.
cdef PyObject *nansum_axes(PyObject *a, object axes, bint keepdims) except NULL
cdef PyObject *prod_axes(PyObject *a, object axes, bint keepdims) except NULL
cdef PyObject *amax_axes(PyObject *a, object axes, bint keepdims) except NULL
cdef PyObject *amin_axes(PyObject *a, object axes, bint keepdims) except NULL
# Sums a broadcast result back to a shape it was broadcast from; `a` itself (new reference) when the shape is the same.
cdef PyObject *sum_to(PyObject *a, int ndim, const npy_intp *dims) except NULL

# ---- softmax family

cdef PyObject *softmax(PyObject *a, int axis) except NULL
cdef PyObject *softmax_backward(PyObject *grad, PyObject *result, int axis) except NULL
cdef PyObject *log_softmax(PyObject *a, int axis) except NULL
cdef PyObject *log_softmax_backward(PyObject *grad, PyObject *result, int axis) except NULL
cdef PyObject *logsumexp(PyObject *a, object axes, bint keepdims) except NULL

# ---- matrix products

# All cases of NumPy's matmul. The second form transposes the last two axes of an operand on the fly (no copy).
cdef PyObject *matmul(PyObject *a, PyObject *b) except NULL
cdef PyObject *matmul_transposed(PyObject *a, bint transpose_a, PyObject *b, bint transpose_b) except NULL
# x @ weight.T + bias; bias may be NULL
cdef PyObject *linear(PyObject *x, PyObject *weight, PyObject *bias) except NULL
# Of rows that hold several groups, each with a matrix of its own. The job is a gs_groups of products/groups.h; 0 where it
# cannot be done so.
cdef int rows_of_groups(const void *job) except -1
cdef int outers_of_groups(const void *job) except -1
