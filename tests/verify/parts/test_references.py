"""References of entries reach what computes, and nothing else."""

import ast

import pytest

from gradsmith.generated.op_table import OPS
from gradsmith.verify.references.expected import FUNCTIONS, ROWS, NotAvailable, function_called, names_for, reference_of
from gradsmith.verify.references.usual import reference_by_name
from gradsmith.verify.samples import key_of


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


def test_no_entry_of_the_table_is_compared_with_its_own_words() -> None:
    """A fault in a forward formula would be in the reference too, and most have no slope that gives them away."""

    def words(text: str) -> str:
        return ast.dump(ast.parse(text.strip(), mode="eval"))

    named = {key_of(row): row.reference or reference_by_name(row, FUNCTIONS) for row in OPS}
    assert [key for key, text in named.items() if not text] == []
    formulas = {key_of(row): row.forward.partition("(")[2].removesuffix(")") for row in OPS if row.reference}
    assert [key for key, text in formulas.items() if words(text) == words(named[key])] == []
