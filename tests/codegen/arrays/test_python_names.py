"""Python texts of a table cannot reach anything that does more than compute."""

import ast
import importlib

import pytest

from codegen.arrays.free_names import free_names
from codegen.arrays.python_names import NUMPY_MODULES, NUMPY_NAMES, verify_attributes, verify_expression
from codegen.arrays.scipy_names import SCIPY_FUNCTIONS
from codegen.build.build import load_table
from codegen.spec.errors import Problem, SpecErrors
from codegen.spec.sizes import verify_sizes
from codegen.spec.vocabulary import ARRAY_BUILTINS, REFERENCE_NAMES, SAMPLE_NAMES, SCIPY_MODULES

ESCAPES = """
    self.__class__.__mro__
    np.__builtins__
    np.core.multiarray
    np.lib.format.open_memmap('x')
    np.lib.stride_tricks.as_strided(self, (10**9,))
    np.ctypeslib.load_library('c', '/')
    np.f2py.os.system('true')
    np.load('x', allow_pickle=True)
    np.save('x', self)
    np.savez('x', self)
    np.savetxt('x', self)
    np.loadtxt('x')
    np.genfromtxt('x')
    np.fromfile('x')
    np.frombuffer(b'x')
    np.fromregex('x', 'y', 'f8')
    np.memmap('x')
    np.DataSource().open('x')
    np.vectorize(print)(self)
    np.frompyfunc(print, 1, 1)(self)
    np.fromfunction(print, (1,))
    np.apply_along_axis(print, 0, self)
    np.piecewise(self, [self > 0], [print])
    np.ndarray((10,), buffer=b'')
    np.set_printoptions(formatter=None)
    np.seterr(all='call')
    np.random.seed(0)
    np.testing.measure('1')
    np.show_config()
    np.linalg.linalg
    np.fft.helper.np
    np.add.at(self, 0, 1)
    np.add.__self__
    scipy.io.savemat('x', {})
    scipy.sparse.save_npz('x', self)
    scipy.sparse.sputils.np
    scipy.special.seterr(all='raise')
    scipy.special.test()
    scipy.fft.set_global_backend(self)
    scipy.linalg.get_blas_funcs('x')
    scipy.stats.rv_continuous(shapes='x')
    scipy.stats.kstest(self, 'os')
    scipy.stats.distributions.np
    scipy.optimize.moduleTNC
    scipy.LowLevelCallable
    scipy.special
    [m.load for m in [np]]
    [m for m in (scipy,)]
    [m.sys for m in [np.linalg]]
    [m for m in [np.linalg]]
    self.tofile('x')
    self.dump('x')
    self.dumps()
    self.base
    self.ctypes
    self.data
    self.setflags(write=True)
    self.resize(3)
    self.view('O')
    self.fill(0)
    self.sort()
    self.getfield('f8')
    self.dtype.descr
    self.dtype.metadata
    self.dtype.fields
    '{0.__class__}'.format(self)
    '{0}'.format_map({})
    f'{self.__class__}'
    f'{self:{self.__class__}}'
    (lambda: 1)()
    [x for x in [1] if (y := x)]
    (i for i in [1]).gi_frame.f_builtins
    generator.bit_generator.state
    generator.spawn(1)
    generator.shuffle(self)
    generator.bytes(1)
    [g.bit_generator for g in [generator]]
    10**10**10
    1 << 10**9
    -(2**64) * 2**99
    'a' * 10**12
    10**12 * [0]
    (1,) * (10**7 + 1)
    ([0] + [1]) * 10**9
    real(10**12)
    integers(10**5, 10**5, high=3)
    symmetric(10**6, 10**6)
    [real(10**9)]
"""


@pytest.mark.parametrize("text", [line.strip() for line in ESCAPES.strip().splitlines()])
def test_what_does_more_than_compute_is_refused(text: str) -> None:
    tree = ast.parse(text, mode="eval").body
    with pytest.raises(Problem):
        verify_expression(tree, "text")
        verify_attributes(tree, "text", generators=frozenset({"generator"}))
        verify_sizes(tree, "text")


BUILTINS = """
    open eval exec compile getattr setattr delattr vars dir globals locals input print type object super map filter
    breakpoint memoryview bytearray bytes classmethod property staticmethod __import__ __builtins__ help exit quit
"""


@pytest.mark.parametrize("name", BUILTINS.split())
def test_functions_of_python_that_no_text_knows(name: str) -> None:
    assert name not in ARRAY_BUILTINS | REFERENCE_NAMES | SAMPLE_NAMES


HIDDEN = (
    "[eval for eval in [abs]] or eval('1')",
    "eval('1') or [eval for eval in [abs]]",
    "[x for eval in [abs] for x in [1]] + [eval('1')]",
    "[0 for eval in eval('[]')]",
    "{eval: 1 for eval in [abs]} or eval('1')",
    "len({eval for eval in [abs]}) + eval('1')",
    "sum(0 for eval in [abs]) + eval('1')",
    "[[eval for eval in [1]] + [eval('1')] for x in [1]]",
    "f'{eval(1)}'",
)


@pytest.mark.parametrize("text", HIDDEN)
@pytest.mark.parametrize("place", ["forward", "sample", "reference", "point"])
def test_a_name_is_bound_in_its_comprehension_alone(text: str, place: str) -> None:
    texts = {"forward": "self", "sample": "real(3)", "reference": "self", "point": "0.0"} | {place: text}
    table = f"""
unary:
- name: m(Tensor self) -> Tensor
  forward: "array(self + ({texts["forward"]}))"
  self: grad
  samples: ["self={texts["sample"]}"]
  reference: "{texts["reference"]}"
  points: ["self=({texts["point"]}), gradient=1"]
  doc: A case.
"""
    with pytest.raises(SpecErrors, match="uses 'eval'"):
        load_table(table)


def test_free_names() -> None:
    def free(text: str) -> list[str]:
        return sorted({name.id for name in free_names(ast.parse(text, mode="eval"))})

    assert free("[f(x, a) for x in xs if x > b]") == ["a", "b", "f", "xs"]
    assert free("[y for x in xs for y in x]") == ["xs"]
    assert free("[x for x in x]") == ["x"]
    assert free("{k: v for k, v in zip(ks, vs)}") == ["ks", "vs", "zip"]
    assert free("[[x + y for y in x] for x in xs] + [y]") == ["xs", "y"]
    assert free("[x for x, *rest in xs if rest]") == ["xs"]


def test_what_computes_is_allowed() -> None:
    for text in (
        "np.linalg.norm(self) + scipy.special.erf(self) * 2**31 - [0] * 5",
        "scipy.stats.norm.cdf(self) + generator.normal(size=self.shape)",
        "[x.T for x in xs] + list(real(1000, 1000))",
    ):
        tree = ast.parse(text, mode="eval").body
        verify_expression(tree, "text")
        verify_attributes(tree, "text", generators=frozenset({"generator"}))
        verify_sizes(tree, "text")


def test_every_listed_function_of_scipy_is_one() -> None:
    """Versions differ in few of them."""
    pytest.importorskip("scipy")
    assert SCIPY_FUNCTIONS.keys() == SCIPY_MODULES
    for module, names in SCIPY_FUNCTIONS.items():
        functions = importlib.import_module(f"scipy.{module}")
        missing = {name for name in names if not callable(getattr(functions, name, None))}
        assert len(missing) <= len(names) // 10, (module, missing)


def test_no_listed_name_touches_files_or_settings() -> None:
    listed = NUMPY_NAMES.union(*NUMPY_MODULES.values(), *SCIPY_FUNCTIONS.values())
    for name in listed:
        assert not name.startswith(("_", "load", "save", "from", "set_", "register_", "open", "mem")), name
    assert "test" not in listed
