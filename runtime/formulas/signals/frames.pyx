"""Helpers of short-time Fourier transforms; the types that formulas may call them with are in the .pxd.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.formulas.networks.answers cimport Answers
from gradsmith.runtime.formulas.replaced cimport padded

import numpy as np

from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import ones

cdef enum:
    MOST_PLACES = 1 << 12       # of a signal, for them to be kept

# PyTorch's word for each kind of padding -> NumPy's.
PAD_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


cpdef object short_time_frames(
    object self, object n_fft, object hop_length, object win_length, object window, object center, object pad_mode,
    object align_to_window,
):
    """Windows of the signal, each multiplied by `window`, in the last two dimensions."""
    if center and align_to_window is not None:
        raise RuntimeError("stft(): align_to_window should only be set when center = false")
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"stft(): expected a tensor of floating point or complex values, but got {self.dtype}")
    if self.ndim not in (1, 2):
        raise RuntimeError(f"stft(): expected a 1D or 2D tensor, but got {self.ndim} dimensions")
    signal = padded_signal(self, n_fft // 2, pad_mode) if center and n_fft > 0 else self
    hop, length = frame_sizes("stft", n_fft, hop_length, win_length)
    if align_to_window:
        signal = centered(signal, signal.shape[signal.ndim - 1] + n_fft - length)
    if not 0 < n_fft <= signal.shape[signal.ndim - 1]:
        raise RuntimeError(f"stft(): expected 0 < n_fft <= {signal.shape[signal.ndim - 1]}, but got n_fft={n_fft}")
    if window is None:
        warn_of_rectangle(length, "spectra of frames that begin and end abruptly leak into all frequencies; a window such as "
                          "gradsmith.hann_window keeps them apart")
    frames = signal.unfold(-1, n_fft, hop)
    return frames if window is None and length == n_fft else frames * window_of_frames(self, n_fft, length, window)


cdef int warn_of_rectangle(object length, str why) except -1:
    warn_caller(
        f"A window was not provided. A rectangular window will be applied: {why}. To suppress this warning and use a "
        f"rectangular window, explicitly set `window=gradsmith.ones({length})`."
    )
    return 0


cdef tuple frame_sizes(op, object n_fft, object hop_length, object win_length):
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if n_fft <= 0:
        raise RuntimeError(f"{op}(): expected n_fft > 0, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{op}(): expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{op}(): expected 0 < win_length <= n_fft, but got win_length={length}")
    return hop, length


cdef object padded_signal(object self, object pad, object mode):
    if mode not in PAD_MODES:
        raise NotImplementedError(f"stft(): Unrecognised padding mode {mode}; expected one of {', '.join(PAD_MODES)}")
    if mode == "constant":
        return padded(self, [pad, pad], 0)
    length = self.shape[self.ndim - 1]
    if length < {"reflect": pad + 1, "circular": pad}.get(mode, 1):
        raise RuntimeError(
            f"stft(): Padding size should be less than the corresponding input dimension, but got: padding ({pad}, {pad}) "
            f"of {length} elements"
        )
    return self.index_select(-1, from_array(known_places.to((length, pad, mode))).to(self.device))


def places_with_ends(length, pad, mode):
    """Which elements a padded signal has."""
    return np.pad(np.arange(length), pad, PAD_MODES[mode])


cdef Answers known_places = Answers(places_with_ends, lambda places: len(places) <= MOST_PLACES)


cpdef object window_of_frames(object self, object n_fft, object win_length, object window):
    """The window, in the middle of as many elements as a frame has."""
    length = n_fft if win_length is None else win_length
    if window is None:
        window = ones(length, dtype=self.real.dtype, device=self.device)
    if window.ndim != 1 or window.shape[0] != length:
        raise RuntimeError(
            f"expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window.shape)}"
        )
    return centered(window, n_fft)


cdef object centered(object self, object length):
    more = length - self.shape[self.ndim - 1]
    return padded(self, [more // 2, more - more // 2], 0) if more else self


cpdef object is_onesided(object op, object self, object window, object onesided, object return_complex):
    """Are negative frequencies left out? Those of a real signal follow from the others."""
    is_complex = (op == "stft" and self.is_complex()) or (window is not None and window.is_complex())
    if op == "stft" and return_complex is None and not is_complex:
        raise RuntimeError(
            "stft(): return_complex must be given for real inputs: True for complex spectra, False for pairs of real "
            "and imaginary parts"
        )
    if onesided and is_complex:
        raise RuntimeError(f"{op}(): Cannot have onesided output if window or input is complex")
    return not is_complex if onesided is None else onesided


# ---- inverse


cpdef object checked_spectra(
    object self, object n_fft, object hop_length, object win_length, object window, object onesided,
    object return_complex,
):
    """The spectra of frames, one in each row."""
    if not self.is_complex():
        raise RuntimeError(
            "istft(): requires a complex-valued input tensor matching the output from stft with return_complex=True"
        )
    if self.ndim not in (2, 3) or self.numel() == 0:
        raise RuntimeError(f"istft(): expected a tensor with 2 or 3 dimensions that is not empty, but got {list(self.shape)}")
    hop, length = frame_sizes("istft", n_fft, hop_length, win_length)
    if hop > length:
        raise RuntimeError(f"istft(): expected 0 < hop_length <= win_length, but got hop_length={hop}")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("istft(): Complex windows are incompatible with return_complex=False")
    is_half = is_onesided("istft", self, window, self.shape[self.ndim - 2] != n_fft if onesided is None else onesided, return_complex)
    if window is None:
        warn_of_rectangle(length, "the inversion is lossless with the window that stft used")
    if return_complex and is_half:
        raise RuntimeError("istft(): Cannot have onesided output if window or input is complex")
    expected = n_fft // 2 + 1 if is_half else n_fft
    if self.shape[self.ndim - 2] != expected:
        raise RuntimeError(
            f"istft(): expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "
            f"onesided=True or n_fft when onesided=False, which is {expected}, but got {self.shape[self.ndim - 2]}"
        )
    return self.transpose(-2, -1)


cpdef object places_of_frames(object self, object n_fft, object hop_length, object center, object length):
    """Length of the sum of the frames, theirs, and their distance; where the signal begins and ends, and the zeros after it."""
    hop = n_fft // 4 if hop_length is None else hop_length
    whole = n_fft + hop * (self.shape[self.ndim - 1] - 1)
    start = n_fft // 2 if center else 0
    if length is not None and length <= 0:
        raise RuntimeError(f"istft(): expected length > 0, but got length={length}")
    end = start + length if length is not None else whole - start
    return [whole, n_fft, hop, start, min(end, whole), max(end - whole, 0)]
