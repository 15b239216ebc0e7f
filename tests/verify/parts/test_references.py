"""References of entries reach what computes, and nothing else."""

import pytest

from gradsmith.verify.references.expected import ROWS, NotAvailable, function_called, names_for, reference_of


def test_an_op_named_like_a_function_that_writes_files_has_no_reference() -> None:
    """``save(file, input)`` is not NumPy's."""
    for name in ("save", "savetxt", "load", "fromfile", "put", "copyto"):
        row = ROWS["exp"][0]._replace(
            base=name, forward="array(exp(self))", aliases=(), name=f"{name}(Tensor self) -> Tensor"
        )
        assert "np." not in reference_of(row)


@pytest.mark.parametrize("name", ["exec", "open", "eval", "save", "load", "frompyfunc"])
def test_functions_that_no_reference_calls(name: str) -> None:
    with pytest.raises(NotAvailable):
        function_called(name)
    assert name not in names_for("np.exp(self)", "exp")["__builtins__"]
