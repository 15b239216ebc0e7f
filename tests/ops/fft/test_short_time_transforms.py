"""Short-time Fourier transforms against recorded answers of PyTorch, and what they refuse."""

import warnings

import numpy as np
import pytest

import gradsmith as gs

X = np.array([0.0, 1, 3, 2, -1, 0, 2, 1, 4, -2])
W = np.array([0.5, 1, 1, 0.5])
RECORDED = [
    (
        {"n_fft": 4, "hop_length": 2, "window": W},
        [
            [3, 5, 2.5, 2, 5, 4.5],
            [1.5 - 0.5j, -3, 2.5 - 2j, -2.5 + 0.5j, -3 - 2j, -2 + 2.5j],
            [0, 1, -1.5, 1, 5, 7.5],
        ],
    ),
    (
        {"n_fft": 4, "hop_length": 3, "win_length": 3, "window": W[:3], "normalized": True, "center": False}
        | {"align_to_window": True},
        [[2, 0, 3], [-1.5 - 0.5j, 0.5 + 0.5j, -1.5 - 0.5j], [1, 1, 2]],
    ),
    (
        {"n_fft": 3, "hop_length": 4, "pad_mode": "circular", "onesided": False},
        [[-1, 1, 3], [-2.5 + 0.866j, 2.5 + 0.866j, -5.1962j], [-2.5 - 0.866j, 2.5 - 0.866j, 5.1962j]],
    ),
]


def as_tensors(arguments):
    return {name: gs.tensor(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


@pytest.mark.parametrize(("arguments", "expected"), RECORDED)
def test_recorded_answers(arguments, expected):
    found = gs.stft(gs.tensor(X), **as_tensors(arguments), return_complex=True)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("pad_mode", ["reflect", "replicate", "circular", "constant"])
@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_there_and_back(normalized, onesided, pad_mode):
    x = gs.tensor(np.random.default_rng(0).standard_normal((2, 50)))
    more = {"hop_length": 3, "window": gs.hann_window(8, dtype=gs.float64), "onesided": onesided}
    spectra = x.stft(8, **more, normalized=normalized, pad_mode=pad_mode, return_complex=True)
    assert spectra.shape == (2, 5 if onesided else 8, 17) and spectra.dtype == gs.complex128
    np.testing.assert_allclose(
        spectra.istft(8, **more, normalized=normalized, length=50).numpy(), x.numpy(), atol=1e-12
    )


def test_dtypes_and_lengths():
    x = gs.randn(20)
    assert gs.stft(x, 8, return_complex=True).dtype == gs.complex64
    assert gs.stft(x, 8, window=gs.ones(8, dtype=gs.float64), return_complex=True).dtype == gs.complex128
    assert gs.stft(x + 0j, 8).shape == gs.stft(x, 8, window=gs.ones(8) + 0j).shape == (8, 11)
    spectra = gs.stft(x, 8, return_complex=True)
    longer = gs.istft(spectra, 8, length=30)
    assert longer.shape == (30,) and longer[24:].tolist() == [0] * 6
    assert gs.istft(spectra, 8, center=False).shape == (28,)
    assert gs.stft(x.to("meta"), 8, return_complex=True).shape == (5, 11)
    assert gs.istft(spectra.to("meta"), 8).shape == (20,)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"return_complex": None}, RuntimeError, "return_complex must be given"),
        ({"n_fft": 0}, RuntimeError, "n_fft > 0"),
        ({"hop_length": 0}, RuntimeError, "hop_length > 0"),
        ({"win_length": 9}, RuntimeError, "0 < win_length <= n_fft"),
        ({"window": gs.ones(7)}, RuntimeError, "expected a 1D window tensor of size equal to win_length=8"),
        ({"window": gs.ones(8) + 0j, "onesided": True}, RuntimeError, "Cannot have onesided output"),
        ({"pad_mode": "mirror"}, NotImplementedError, "Unrecognised padding mode mirror"),
        ({"align_to_window": True}, RuntimeError, "should only be set when center = false"),
        ({"n_fft": 24, "center": False}, RuntimeError, "0 < n_fft <= 20"),
        ({"n_fft": 60}, RuntimeError, "Padding size should be less"),
    ],
)
def test_errors(arguments, error, text):
    with pytest.raises(error, match=text):
        gs.stft(gs.ones(20), **{"n_fft": 8, "return_complex": True, **arguments})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n_fft": 10}, "expected the frequency dimension"),
        ({"hop_length": 9}, "0 < hop_length <= win_length"),
        ({"window": gs.zeros(8)}, "window overlap add min"),
        ({"return_complex": True}, "Cannot have onesided output"),
        ({"window": gs.ones(8) + 0j, "onesided": False}, "incompatible with return_complex=False"),
        ({"length": 0}, "length > 0"),
    ],
)
def test_errors_back(arguments, text):
    with pytest.raises(RuntimeError, match=text):
        gs.istft(gs.ones(5, 11) + 0j, **{"n_fft": 8, **arguments})
    with pytest.raises(RuntimeError, match="requires a complex-valued input"):
        gs.istft(gs.ones(5, 11), 8)


def test_pairs_of_real_and_imaginary_parts():
    x = gs.tensor(X, requires_grad=True)
    pairs, spectra = (gs.stft(x, 8, return_complex=whether) for whether in (False, True))
    np.testing.assert_array_equal(pairs.detach().numpy(), gs.view_as_real(spectra.detach()).numpy())
    np.testing.assert_allclose(
        *(gs.autograd.grad(one, x)[0].numpy() for one in ((pairs**2).sum(), (spectra.abs() ** 2).sum())), rtol=1e-12
    )


def test_whether_spectra_are_one_sided_follows_from_their_size():
    x = gs.tensor(X)
    for onesided in (True, False):
        spectra = gs.stft(x, 8, window=gs.ones(8), onesided=onesided, return_complex=True)
        np.testing.assert_allclose(gs.istft(spectra, 8, window=gs.ones(8), length=x.shape[-1]).numpy(), X, atol=1e-12)


def test_a_window_that_is_left_out_warns():
    x = gs.tensor(X)
    window = gs.ones(4, dtype=x.dtype)
    with pytest.warns(UserWarning, match=r"A window was not provided.*hann_window.*`window=gradsmith.ones\(4\)`"):
        spectra = gs.stft(x, 4, return_complex=True)
    with pytest.warns(UserWarning, match=r"A window was not provided.*the window that stft used"):
        back = gs.istft(spectra, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(gs.stft(x, 4, window=window, return_complex=True), spectra)
        np.testing.assert_array_equal(gs.istft(spectra, 4, window=window), back)
