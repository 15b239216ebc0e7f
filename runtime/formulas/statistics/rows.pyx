"""Helpers of ops that compare the rows of matrices; see the .pxd for the types.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.formulas.numbers cimport wrapped

import math
from functools import partial

import numpy as np

from gradsmith.runtime.arrays.functions.counting.triangles import pair_numbers
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.batching.checked_values import check_values
from gradsmith.runtime.graph.tensor import from_array


# ---- distances

# How PyTorch may compute the distances; here there is one way.
cdef tuple MODES = (
    "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
)


cpdef object have_distance_loop(object x1, object x2, object p, object mode):
    """Can cdist(x1, x2) be computed without all differences? Raises where it cannot be computed at all."""
    if mode not in MODES:
        raise ValueError(f"cdist(): {mode} is not a valid value for compute_mode; it is one of {', '.join(MODES)}")
    check_rows("cdist", x1, p)
    check_rows("cdist", x2, p)
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"cdist(): expected the tensors to have the same dtype, but got {x1.dtype} and {x2.dtype}")
    if x1.shape[-1 + x1.ndim] != x2.shape[-1 + x2.ndim]:
        raise RuntimeError(
            f"cdist(): X1 and X2 must have the same number of columns, but their sizes are {list(x1.shape)} and "
            f"{list(x2.shape)}"
        )
    return is_loop_for(x1, p)


cpdef object has_distance_loop(object self, object p):
    """The same of pdist(self)."""
    count_of_rows(self)
    check_rows("pdist", self, p)
    return is_loop_for(self, p)


cdef bint is_loop_for(object x, object p) except -1:
    return x.dtype in (np.float32, np.float64) and p in (1, 2, math.inf) and x.shape[-1 + x.ndim] > 0


cpdef object differences_of_pairs(object self):
    """Each row minus each of those after it."""
    rows, others = [from_array(places).to(self.device) for places in np.triu_indices(count_of_rows(self), 1)]
    return self.index_select(0, rows) - self.index_select(0, others)


cpdef object pair_places(object self):
    """Where each row's distances to those after it stand in the matrix of all distances, laid out in one row."""
    return from_array(pair_numbers(count_of_rows(self))).to(self.device)


cdef object count_of_rows(object self):
    if self.ndim != 2:
        raise RuntimeError(f"pdist(): only supports 2D tensors, got: {self.ndim}D")
    return self.shape[0]


cdef int check_rows(op, object x, object p) except -1:
    if x.dtype.kind != "f":
        raise RuntimeError(f"{op}(): only supports floating-point dtypes, got: {x.dtype}")
    if x.ndim < 2:
        raise RuntimeError(f"{op}(): only supports at least 2D tensors, got: {x.ndim}D")
    if not p >= 0:
        raise RuntimeError(f"{op}(): only supports non-negative p values, got: {p}")
    return 0


cpdef object shrunk_slices(object self, object p, object dim, object maxnorm):
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"renorm(): expected a floating point or complex tensor as input, got {self.dtype}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm(): input needs at least 2 dimensions, got {self.ndim} dimensions")
    if not p > 0:
        raise RuntimeError(f"renorm(): non-positive-norm not supported, got p = {p}")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm(): expected maxnorm to be >= 0 but got {maxnorm}")
    axis = wrapped(dim, self.ndim)
    norms = self.norm(float(p), [d for d in range(self.ndim) if d != axis], True)
    factors = norms.add(1e-7).reciprocal() * maxnorm
    found = self * factors.masked_fill((norms > maxnorm).logical_not(), 1)
    return found if found.dtype == self.dtype else found.to(self.dtype)


# ---- covariances


cpdef object covariances(object self, object correction, object fweights, object aweights):
    check_observations("cov", self)
    rows = self.reshape(1, -1) if self.ndim < 2 else self
    if rows.dtype.kind not in "fc":
        rows = rows.float()
    weights, total, freedom = weighing(rows, correction, fweights, aweights)
    means = (rows if weights is None else rows * weights).sum(1, True) / total
    centred = rows - means
    other = centred if weights is None else centred * weights
    found = other @ centred.conj().transpose(0, 1) / freedom
    return found.reshape(()) if rows.shape[0] == 1 else found


cdef int check_observations(op, object self) except -1:
    if self.dtype.kind == "b":
        raise RuntimeError(f"{op}(): bool dtype is not supported for input")
    if self.ndim > 2:
        raise RuntimeError(
            f"{op}(): expected input to have two or fewer dimensions but got an input with {self.ndim} dimensions"
        )
    return 0


cdef tuple weighing(object rows, object correction, object fweights, object aweights):
    """Weights of the observations or None, their sum, and what a sum of squares is divided by."""
    count = rows.shape[1]
    check_weights("fweights", fweights, "iu", count)
    check_weights("aweights", aweights, "f", count)
    if fweights is None and aweights is None:
        warn_of_freedom(count - correction)
        return None, count or math.nan, max(count - correction, 0) or (0.0 if count else math.nan)
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    weights = weights.reshape(-1)
    total = weights.sum()
    lost = correction if aweights is None else correction * (weights * aweights.reshape(-1)).sum() / total
    freedom = total - lost
    if not (freedom.is_meta or is_batched_tensor(freedom)):
        warn_of_freedom(freedom.item())
    if aweights is None:
        weights = weights.to(rows.real.dtype)
    return weights, total, freedom.clamp_min(0)


cdef int check_weights(str name, object weights, str kinds, object count) except -1:
    if weights is None:
        return 0
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {weights.ndim} dimensions")
    if weights.dtype.kind not in kinds:
        kind = "floating point" if kinds == "f" else "integral"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {weights.dtype}")
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have one number for each of the {count} observations in the input, but its size "
            f"is {list(weights.shape)}"
        )
    check_values(partial(expect_no_negative, name), weights)
    return 0


def expect_no_negative(str name, weights):
    if (weights < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")


cdef int warn_of_freedom(object freedom) except -1:
    if freedom <= 0:
        warn_caller(
            f"cov(): degrees of freedom are {freedom:g}; correction should be less than the number of observations"
        )
    return 0


cpdef object correlations(object self):
    check_observations("corrcoef", self)
    found = covariances(self, 1, None, None)
    if found.ndim == 0:
        return (found / found).detach() + found * 0
    spread = found.diagonal().real.sqrt()
    quotients = found / spread.unsqueeze(1) / spread.unsqueeze(0)
    return limited(quotients)


cdef object limited(object quotients):
    """Clamp numbers that rounding has brought beyond one."""
    if not quotients.is_complex():
        return quotients.clamp(-1, 1)
    return quotients.real.clamp(-1, 1) + 1j * quotients.imag.clamp(-1, 1)
