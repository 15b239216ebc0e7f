"""`gradsmith.load_ops`: what is built when, what is kept, and what is said when it cannot be."""

import importlib.util
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from outside_tables import HERE, ROOT, SMALL

import gradsmith as gs
from gradsmith.codegen import extension, table_files
from gradsmith.codegen.extension import make_package
from gradsmith.codegen.spec.errors import SpecErrors
from gradsmith.codegen.table_files import OWN_TABLE
from gradsmith.compiling.toolchain import BuildError
from gradsmith.extension import cache as cache_module
from gradsmith.extension import packages

pytestmark = pytest.mark.compiles

LOAD = "import sys, gradsmith as gs; ops = gs.load_ops(sys.argv[1])"


def built(cache):
    return sorted(path.name for path in cache.iterdir())


def test_what_is_built_is_kept(small, cache, run_python):
    first = gs.load_ops(small)
    before = built(cache)
    code = f"{LOAD}; print(ops.__file__, 'Cython' in sys.modules, 'jinja2' in sys.modules, 'yaml' in sys.modules)"
    done = run_python("-c", code, str(small))
    assert done.stdout.split() == [first.__file__, "False", "False", "False"], done.stderr
    assert built(cache) == before


def test_loading_twice_gives_the_same_module(small, tmp_path):
    assert gs.load_ops(small) is gs.load_ops(str(small))
    elsewhere = shutil.copy(small, tmp_path / "copy")
    assert gs.load_ops(tmp_path / "copy") is not gs.load_ops(small), elsewhere  # named after its file


def test_the_key_is_made_of_everything_that_matters(monkeypatch):
    keys = {cache_module.key_of("text"), cache_module.key_of("other text"), cache_module.key_of("text", "functions")}
    for name, value in [("CFLAGS", "-O0"), ("CC", "other-cc"), ("GRADSMITH_NO_CLONES", "1")]:
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            keys.add(cache_module.key_of("text"))
    for name in ("__version__", "library_digest"):
        with monkeypatch.context() as patch:
            patch.setattr(cache_module, name, "9.9" if name == "__version__" else lambda: "other")
            keys.add(cache_module.key_of("text"))
    assert len(keys) == 8
    assert cache_module.key_of("text") in keys


def test_samples_and_documentation_of_the_tree_build_nothing_anew():
    entry = "- name: f(Tensor self) -> Tensor\n  self: grad\n  samples:\n  - real(3)\n  doc: >-\n    One.\n\n    Two.\n"
    changed = entry.replace("real(3)", "real(4)\n  - real(5)").replace("One.", "Another.") + "  # A comment.\n"
    assert cache_module.what_is_built(entry) == cache_module.what_is_built(changed)
    assert cache_module.what_is_built(entry) != cache_module.what_is_built(entry.replace("grad", "grad * 2"))
    table = OWN_TABLE.read_text(encoding="utf-8")
    kept = [line for line in cache_module.what_is_built(table).splitlines() if line.startswith("- name:")]
    assert kept == [line for line in table.splitlines() if line.startswith("- name:")]


@pytest.fixture
def broken_tree(monkeypatch, tmp_path):
    """Gradsmith's own table has an error; gives the file of the one that it was generated from."""
    table = tmp_path / "tree" / "derivatives.yaml"
    table.parent.mkdir()
    table.write_text("unary:\n- name: f(Tensr self) -> Tensor\n")
    monkeypatch.setattr(table_files, "OWN_TABLE", table)
    monkeypatch.setattr(table_files, "GENERATED_FROM", tmp_path / "generated_from.yaml")
    extension.library_table.cache_clear()
    cache_module.library_digest.cache_clear()
    yield tmp_path / "generated_from.yaml"
    extension.library_table.cache_clear()
    cache_module.library_digest.cache_clear()


def test_errors_of_the_tree_concern_no_other_table(small, cache, broken_tree):
    """Formulas call the ops that were generated."""
    shutil.copyfile(OWN_TABLE, broken_tree)
    small.write_text(SMALL.replace("grow", "shrink"), encoding="utf-8")
    assert gs.load_ops(small).ripple(gs.zeros(1)).tolist() == [0]


def test_errors_of_a_tree_without_a_build_are_told_apart(small, cache, broken_tree):
    small.write_text(SMALL.replace("grow", "vanish"), encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"gradsmith's own, .*, has errors; .*:\n.*unknown type 'Tensr'"):
        gs.load_ops(small)


def test_an_edited_table_is_another_package(small, cache):
    first = gs.load_ops(small)
    small.write_text(SMALL.replace("sin(self) * self)", "sin(self) * self + 1)"), encoding="utf-8")
    second = gs.load_ops(small)
    x = gs.ones(2)
    assert (second.ripple(x) - first.ripple(x)).tolist() == pytest.approx([1, 1])


def test_samples_compile_nothing(small, cache, capsys, run_python):
    """Neither do points and references: a version that differs in them alone has the modules of the one compiled."""
    text = SMALL.replace("[ripples]", "[sampled]")
    small.write_text(text, encoding="utf-8")
    first = gs.load_ops(small, verbose=True)
    assert "cython" in capsys.readouterr().out
    small.write_text(text.replace("real(3, 4)", "real(5)\n  reference: np.sin(self) * self"), encoding="utf-8")
    second = gs.load_ops(small, verbose=True)
    assert not list(Path(second.__file__).parent.glob("*.pyx"))
    assert capsys.readouterr().out == ""
    assert second is not first and second.ripple is first.ripple and second.waves is first.waves
    samples = [module.op_table.OPS[0].samples for module in (first, second)]
    assert samples == [({"self": "real(3, 4)"},), ({"self": "real(5)"},)]
    code = f"{LOAD}; print(ops.__name__, ops.ripple(gs.zeros(1)).tolist(), ops.op_table.OPS[0].samples[0]['self'])"
    done = run_python("-c", code, str(small))
    assert done.stdout.split() == [second.__name__, "[0.0]", "real(5)"], done.stderr
    next(Path(first.__file__).parent.glob("waves.*.so")).unlink()  # a part of both is gone
    assert run_python("-c", code, str(small)).stdout == done.stdout


def test_documentation_compiles_nothing(small, cache, capsys, run_python):
    text = SMALL.replace("[ripples]", "[documented]")
    code = f"{LOAD.replace(')', ', methods=True)')}\nimport inspect, pydoc\n" + (
        "for f in (ops.ripple, ops.documented, gs.Tensor.ripple):\n"
        "    print(f.__doc__.splitlines()[0], inspect.signature(f))\n"
        "print('second line' in pydoc.render_doc(ops.ripple), ops.waves.ripple is ops.ripple)\n"
        "print(ops.ripple.__doc__.splitlines()[-2].strip(), ops.op_table.OPS[0].doc.split()[-1])\n"
    )
    outputs = []
    for doc in ("Waves that grow.", '>-\n    Waves, and a\n    "second line" \\ of ünusual """ text.'):
        small.write_text(text.replace("Waves that grow.", doc), encoding="utf-8")
        done = run_python("-c", code, str(small))
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    summary = 'Waves, and a "second line" \\ of ünusual """ text.'
    assert outputs[0][0] == "Waves that grow. (input)" and outputs[0][2] == "Waves that grow. (self, /)"
    assert outputs[1][:3] == [f"{summary} (input)", f"{summary} (input)", f"{summary} (self, /)"]
    assert outputs[0][3:] == ["False True", "input: grad * (cos(self) * self + sin(self)) grow."]
    assert outputs[1][3:] == ["True True", "input: grad * (cos(self) * self + sin(self)) text."]
    of_both = [path for path in cache.glob("small_*/waves.pyx") if "documented = ripple" in path.read_text()]
    assert len(of_both) == 1 and "grow" not in of_both[0].read_text()


def test_samples_of_methods_and_functions(cache, tmp_path, run_python):
    """Both versions see the functions file once, and the later one has the methods."""
    table, functions = tmp_path / "calls.yaml", tmp_path / "calls.py"
    functions.write_text("def bend_of(x):\n    return x + 1\n")
    text = SMALL.replace("pointwise(sin(self) * self)", "array(bend_of(self))").replace("ripple", "bend")
    text = text.replace(", inplace]", "]").replace("grad * (cos(self) * self + sin(self))", "grad")
    code = "import sys, gradsmith as gs; gs.load_ops(*sys.argv[1:2], functions=sys.argv[2], methods=True); "
    for sample in ("real(3, 4)", "real(5)"):
        table.write_text(text.replace("real(3, 4)", sample), encoding="utf-8")
        done = run_python("-c", code + "print(gs.zeros(1).bend().tolist())", str(table), str(functions))
        assert done.stdout == "[1.0]\n", done.stderr
    assert len(list(cache.glob("calls_*/*.so"))) == 2  # the family and the methods


def test_processes_at_once(small, cache):
    """Both build, since neither finds it built; both succeed, and one result stays."""
    small.write_text(SMALL.replace("[ripples]", "[built_twice]"), encoding="utf-8")
    before = set(built(cache))
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {LOAD}; print(ops.__name__)"]
    processes = [subprocess.Popen([*command, str(small)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    names = {process.communicate()[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert set(built(cache)) - before == names and len(names) == 1


def test_steps_are_told_when_asked(small, capsys):
    small.write_text(SMALL.replace("[ripples]", "[told]"), encoding="utf-8")
    name = gs.load_ops(small, verbose=True).__name__
    steps = capsys.readouterr().out.splitlines()
    assert {f"cython  {name}/waves.pyx", f"cc      {name}/waves_kernels.c", f"link    {name}.waves"} <= set(steps)


def test_any_file_name_will_do(cache, tmp_path):
    table = tmp_path / "3 odd-name.yml"
    table.write_text(SMALL, encoding="utf-8")
    assert gs.load_ops(table).__name__.startswith("table_3_odd_name_")


def test_where_it_is_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("GRADSMITH_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_module.cache_folder() == tmp_path / "gradsmith"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_module.cache_folder() == Path.home() / ".cache" / "gradsmith"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_module.cache_folder() == Path.home() / "Library" / "Caches" / "gradsmith"
    monkeypatch.setenv("GRADSMITH_CACHE_DIR", "~/mine")
    assert cache_module.cache_folder() == Path.home() / "mine"


# ---- mistakes


def mistakes_of(small, old, new):
    assert old in SMALL
    small.write_text(SMALL.replace(old, new), encoding="utf-8")
    with pytest.raises(SpecErrors) as raised:
        gs.load_ops(small)
    return str(raised.value)


def test_mistakes_are_told_with_their_place(small, cache):
    before = built(cache)
    message = mistakes_of(small, "grad * (cos", "gard * (cosh2")
    assert message == (
        f"{small}:5:9: ripple: formula for 'self' uses 'gard', which is not in scope. "
        "In scope: grad, result, self. Did you mean 'grad'?"
    )
    assert built(cache) == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("waves:", "3 waves:", ":1:1: family '3 waves' becomes a module, and that is no name for one. Names consist "),
        ("waves:", "op_table:", ":1:1: family 'op_table' has the name of another module of the package."),
        ("  aliases:", "  operators: {unary: __neg__}\n  aliases:", ":7:15: ripple: '__neg__' belongs to gradsmith's"),
        ("pointwise(sin(self) * self)", "array(sine(self))", "'sine', which is no argument and no function that was"),
        ("sin(self) * self)", "sinn(self) * self)", "calls 'sinn', which is neither an op nor a helper. Did you mean"),
    ],
)  # fmt: skip
def test_mistakes_of_tables_outside(small, old, new, message):
    assert message in mistakes_of(small, old, new)


def test_a_missing_table(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.yaml"):
        gs.load_ops(tmp_path / "none.yaml")


# ---- tools


def test_missing_packages_are_named(small, monkeypatch):
    small.write_text(SMALL.replace("[ripples]", "[without_tools]"), encoding="utf-8")
    find = importlib.util.find_spec
    absent = {"Cython", "jinja2"}
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None if name in absent else find(name))
    with pytest.raises(ImportError, match=r"needs Jinja2, Cython, which .* pip install 'gradsmith\[build\]'"):
        gs.load_ops(small)


def test_a_missing_compiler_is_named(small, monkeypatch):
    monkeypatch.setenv("CC", "no-such-cc -pthread")
    with pytest.raises(BuildError, match="no C compiler: 'no-such-cc' is not on the path. Install GCC"):
        gs.load_ops(small)


def spoiled(file, old, new):
    """Makes packages as the generator does, apart from one word."""

    def make(*arguments, **options):
        package = make_package(*arguments, **options)
        assert old in package.files[file]
        package.files[file] = package.files[file].replace(old, new)
        return package

    return make


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("waves.pyx", "op_sin(self_)", "op_sine(self_)", "undeclared name not builtin: op_sine\n    {0}/waves.pyx:"),
        ("waves_kernels.c", "sinf(", "sine(", "(implicit|.*undeclared).*sine.*\n    {0}/waves_kernels.c:"),
        ("waves.pyx", "connect_1(node, 1", "connect_1(node, nothing_of_c", "undeclared name not builtin: nothing_of_c"),
    ],
)
def test_errors_of_compilers_name_the_entry(small, cache, monkeypatch, file, old, new, message):
    """They speak of generated text; the message leads back to the table."""
    small.write_text("# a comment\n\n" + SMALL, encoding="utf-8")
    monkeypatch.setattr("gradsmith.codegen.extension.make_package", spoiled(file, old, new))
    before = built(cache)
    with pytest.raises(BuildError, match=f"^{small}:5: ripple: " + message.format(r"small_\w+")):
        gs.load_ops(small)
    assert built(cache) == before


def test_what_cannot_be_explained_is_told_as_it_is(small):
    package = make_package(SMALL, str(small), "small")
    output = "ld: cannot find -lm\ncollect2: error: ld returned 1 exit status"
    assert packages.explained(output, package, HERE) == output


def test_building_leaves_the_process_alone(small, run_python):
    """Neither the folder, nor the environment, nor the modules of who loads."""
    small.write_text(SMALL.replace("[ripples]", "[built_aside]"), encoding="utf-8")
    code = (
        "import os, sys; before = (os.getcwd(), dict(os.environ), list(sys.path)); " + LOAD + "; "
        "print(before == (os.getcwd(), dict(os.environ), list(sys.path)), 'setuptools' in sys.modules)"
    )
    done = run_python("-c", code, str(small))
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_a_cache_that_somebody_tidied_up(small, cache, run_python):
    """An incomplete build is done again."""
    small.write_text(SMALL.replace("[ripples]", "[tidied_up]"), encoding="utf-8")
    folder = Path(gs.load_ops(small).__file__).parent
    for gone in (next(folder.glob("waves.*.so")), folder / "__init__.py"):
        gone.unlink()
        done = run_python("-c", f"{LOAD}; print(ops.ripple(gs.zeros(1)).tolist())", str(small))
        assert done.stdout == "[0.0]\n", done.stderr
        assert gone.is_file()
    assert not [path for path in built(cache) if path.startswith("building-")]


def test_letters_of_other_alphabets_in_a_file_name(cache, tmp_path):
    table = tmp_path / "ﬂüsse.yaml"
    table.write_text(SMALL, encoding="utf-8")
    assert gs.load_ops(table).__name__.startswith("__sse_")


def test_a_table_in_another_encoding(small):
    small.write_bytes(SMALL.replace("Waves that grow", "Größer").encode("latin1"))
    with pytest.raises(SpecErrors, match=r"small\.yaml:11:10: is not UTF-8"):
        gs.load_ops(small)


# ---- in other processes


@pytest.mark.parametrize("is_kept", [True, False])
def test_ops_can_be_pickled(small, cache, run_python, tmp_path, is_kept, monkeypatch):
    """Where the package is not kept, as on another machine, it is built from what was pickled."""
    ops = gs.load_ops(small)
    data = pickle.dumps((ops, ops.ripple, gs.grad(ops.ripple)))
    assert pickle.loads(data)[:2] == (ops, ops.ripple)
    (tmp_path / "data").write_bytes(data)
    if not is_kept:
        monkeypatch.setenv("GRADSMITH_CACHE_DIR", str(tmp_path / "other"))
    code = (
        "import pickle, sys, gradsmith as gs; ops, ripple, gradient = pickle.load(open(sys.argv[1], 'rb')); "
        "print(ripple is ops.ripple, f'{gradient(gs.tensor(2.0)).item():.4f}')"
    )
    small.unlink()
    done = run_python("-c", code, str(tmp_path / "data"))
    assert done.stdout.split() == ["True", "0.0770"], done.stderr
