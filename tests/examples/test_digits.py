"""examples/digits.py: what it prints, draws and returns."""

import importlib.util
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from code_blocks import ROOT

import gradsmith as gs

SCRIPT = ROOT / "examples" / "digits.py"


def load():
    spec = importlib.util.spec_from_file_location("digits", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


digits = load()


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """The script run as a user runs it, and the folder it drew its picture into."""
    folder = tmp_path_factory.mktemp("digits")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    command = [sys.executable, str(SCRIPT), "--picture", str(folder / "loss.png")]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    return done, folder


def test_it_succeeds_and_says_how_accurate_it_is(whole_run):
    done, _ = whole_run
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Held-out accuracy: ")
    assert float(last.split()[2].rstrip("%")) >= 96


def test_the_gradient_is_shown_to_be_right(whole_run):
    assert "They agree to within" in whole_run[0].stdout


def test_the_graph_is_shown_down_to_the_leaves(whole_run):
    text = whole_run[0].stdout
    for line in ("LogSoftmaxBackward0", "ReluBackward0", "AccumulateGrad of a leaf of shape (128, 64)"):
        assert line in text
    assert "as above" in text


def test_the_picture_is_there_or_it_says_how_to_get_it(whole_run):
    done, folder = whole_run
    if (folder / "loss.png").exists():
        assert (folder / "loss.png").read_bytes().startswith(b"\x89PNG")
    else:
        assert "pip install gradsmith[plot]" in done.stdout


def test_it_fails_when_the_accuracy_is_too_low(tmp_path, capsys):
    assert digits.main(["--epochs", "0", "--picture", str(tmp_path / "loss.png")]) == 1
    assert "is required" in capsys.readouterr().out


def test_it_fails_when_the_gradient_is_wrong(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(digits, "GRADIENT_TOLERANCE", 0.0)
    monkeypatch.setattr(digits, "REQUIRED_ACCURACY", 0.0)
    assert digits.main(["--epochs", "1", "--picture", str(tmp_path / "loss.png")]) == 1
    assert "They do NOT agree" in capsys.readouterr().out


def test_without_matplotlib_it_names_the_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    digits.save_picture([1.0], tmp_path / "loss.png")
    assert "pip install gradsmith[plot]" in capsys.readouterr().out
    assert not (tmp_path / "loss.png").exists()


def test_the_data_is_whole():
    images, labels = digits.load_digits()
    assert images.shape == (1797, 64) and images.min() == 0 and images.max() == 1
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_batches_visit_every_digit_once():
    chosen = np.concatenate([batch.numpy() for batch in digits.batches(100)])
    assert sorted(chosen.tolist()) == list(range(100))


def test_seed_decides_everything():
    def losses():
        gs.manual_seed(3)
        images, labels, *_ = digits.split(3)
        return next(digits.train(digits.Network(gs.relu), images[:128], labels[:128], epochs=1))

    assert losses() == losses()


@pytest.mark.parametrize("count", [0, 1, 10, 45, 46, 100])
def test_running_mean(count):
    losses = np.random.default_rng(0).random(count).tolist()
    expected = [np.mean(losses[max(0, i - 44) : i + 1]) for i in range(count)]
    np.testing.assert_allclose(digits.smooth(losses), expected)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_on_a_terminal_is_one_line(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    progress = digits.Progress(2)
    progress.show(1, "half")
    progress.show(2, "whole")
    text = sys.stdout.getvalue()
    assert text.count("\n") == 1 and text.endswith("epoch 2/2  whole\n")
    assert "█" * 15 + "·" * 15 in text


def test_elsewhere_it_is_a_line_now_and_then(capsys):
    progress = digits.Progress(30)
    for epoch in range(1, 31):
        progress.show(epoch, "loss")
    assert capsys.readouterr().out.splitlines() == [f"   epoch {n:3}/30  loss" for n in (5, 10, 15, 20, 25, 30)]
