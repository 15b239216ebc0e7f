"""Parts that an entry may leave out: samples, forms, forward, and facts that follow from a ufunc's name."""

import pytest
from small_table import OPS

from codegen.build.build import load_table
from codegen.model import Op
from codegen.spec.errors import SpecErrors


def op_of(entry: str, family: str = "loss") -> Op:
    (op,) = (
        op for op in load_table(f"{OPS}\n{family}:\n- name: {entry}\n  doc: Under test.\n").ops if op.family == family
    )
    return op


def samples_of(entry: str) -> list[str]:
    return [", ".join(f"{k}={v}" for k, v in sample.items()) for sample in op_of(entry).samples]


def test_one_input() -> None:
    assert samples_of("tan(Tensor self) -> Tensor\n  self: grad") == ["self=real(3, 4)"]


def test_a_positive_domain() -> None:
    entry = "log(Tensor self) -> Tensor\n  self: grad\n  domain: {self: '(0, inf)'}"
    assert samples_of(entry) == ["self=positive(3, 4)"]


def test_two_inputs_broadcast_and_take_numbers() -> None:
    entry = "arctan2(Tensor|Scalar self, Tensor|Scalar other) -> Tensor\n  self: grad\n  other: grad"
    assert samples_of(entry) == [
        "self=real(3, 4), other=real(3, 4)",
        "self=real(3, 4), other=real(4)",
        "self=real(3, 1), other=real(1, 4)",
        "self=real(3, 4), other=2.5",
        "self=2.5, other=real(3, 4)",
    ]


def test_generators_replace_those_of_the_usual_samples() -> None:
    entry = (
        "hypot(Tensor self, Tensor other) -> Tensor\n  self: grad\n  other: grad\n  samples: nonzero, other=positive"
    )
    assert samples_of(entry)[0] == "self=nonzero(3, 4), other=positive(3, 4)"


def test_reductions_try_each_kind_of_dim() -> None:
    entry = (
        "norm(Tensor self, int[]? dim, bool keepdim=False) -> Tensor\n"
        "  forward: array(np.sum(self, dim, keepdims=keepdim))\n  nondifferentiable: a case"
    )
    assert samples_of(entry) == [
        "self=real(3, 4), dim=0, keepdim=True",
        "self=real(3, 4), dim=-1",
        "self=real(2, 3, 4), dim=(0, -1)",
        "self=real(3, 4), dim=None, keepdim=True",
    ]


def test_what_the_author_alone_knows_is_asked_for() -> None:
    entry = "f(Tensor self, int n) -> Tensor\n  forward: array(self * n)\n  nondifferentiable: a case"
    with pytest.raises(SpecErrors, match="f: has no 'samples'"):
        op_of(entry)


def test_several_samples_on_a_line() -> None:
    entry = "f(Tensor self, str how) -> Tensor\n  forward: array((self, how)[0])\n  nondifferentiable: a case\n"
    assert samples_of(entry + "  samples: real(3), how='a; b'; how=\"c\", self=real(2)") == [
        "self=real(3), how='a; b'",
        'how="c", self=real(2)',
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("real(3), 2, 4", "has 3 arguments without a name, but the op takes 2"),
        ("real(3), self=real(4), n=1", "gives 'self' twice"),
        ("*real(3)", "has a starred argument"),
        ("**real(3)", "has a starred argument"),
        ("n=1, real(3)", "does not parse: positional argument follows keyword argument"),
    ],
)
def test_samples_that_are_no_calls(text: str, message: str) -> None:
    entry = (
        f"f(Tensor self, int n) -> Tensor\n  forward: array(self * n)\n  nondifferentiable: a case\n  samples: '{text}'"
    )
    with pytest.raises(SpecErrors, match=f"sample {message}"):
        op_of(entry)


@pytest.mark.parametrize(
    ("entry", "forms"),
    [
        ("tan(Tensor self) -> Tensor\n  self: grad", "function method inplace out"),
        (
            "arctan2(Tensor|Scalar self, Tensor other) -> Tensor\n  self: grad\n  other: grad",
            "function method inplace out",
        ),
        ("f(Tensor self) -> Tensor\n  forward: array(self + 1)\n  nondifferentiable: a case", "function method out"),
        ("f(Tensor(a) self) -> Tensor(a)\n  forward: array(self.T)\n  self: grad", "function method copy"),
        ("f(Tensor self) -> Tensor\n  forward: composite(self * self)", "function method"),
        ("tan(Tensor self) -> Tensor\n  self: grad\n  variants: internal", "function internal"),
        (
            "f(Tensor self) -> Tensor\n  forward: array(self + 1)\n  nondifferentiable: a case\n  variants: method",
            "method",
        ),
    ],
)
def test_forms_follow_from_the_forward(entry: str, forms: str) -> None:
    assert op_of(entry).forms == frozenset(forms.split())


def test_ufuncs_say_what_is_true_of_their_numbers() -> None:
    op = op_of("fmod(Tensor self, Tensor other) -> Tensor\n  self: grad\n  other: grad")
    assert not op.supports_complex and not op.nondifferentiable
    op = op_of("signbit(Tensor self) -> Tensor")
    assert op.nondifferentiable == "a truth value has no derivative"
    op = op_of("bitwise_or(Tensor self, Tensor other) -> Tensor")
    assert [sample["self"] for sample in op.samples] == ["boolean(3, 4)", "integers(3, 4, high=8)"]
