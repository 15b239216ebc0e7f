"""What `vmap` takes and gives, and what it says where it cannot; answers are PyTorch's."""

import copy
import gc
import threading
import warnings
import weakref

import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad
from gradsmith.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from gradsmith.runtime.batching.levels import open_levels
from gradsmith.runtime.calls.forward_ad import is_forward_enabled


def numbers(*shape):
    count = 1
    for size in shape:
        count *= size
    return gs.arange(1, 1 + count, dtype=gs.float64).reshape(shape)


def same(found, expected):
    assert found.tolist() == expected.tolist()


@pytest.fixture(autouse=True)
def nothing_is_left_on():
    yield
    assert open_levels() == ()
    assert gs.is_grad_enabled()
    assert is_forward_enabled()


def scaled(x):
    return x * 2


# ---- in_dims and out_dims


@pytest.mark.parametrize("in_dim", [0, 1, -1, -2])
@pytest.mark.parametrize("out_dim", [0, 1, -1, -2])
def test_a_dimension_goes_in_and_comes_out_where_it_is_said(in_dim, out_dim):
    found = vmap(lambda x: x.cumsum(0), in_dim, out_dim)(numbers(3, 2))
    slices = [numbers(3, 2).select(in_dim, n).cumsum(0) for n in range(3 if in_dim in (0, -2) else 2)]
    same(found, gs.stack(slices, out_dim))


def test_trees_of_dimensions():
    tree = {"a": numbers(3, 2), "b": [numbers(2)]}
    same(vmap(lambda d: d["a"] + d["b"][0], ({"a": 0, "b": [None]},))(tree), numbers(3, 2) + numbers(2))
    found = vmap(lambda x: {"a": x, "b": [x.sum()]}, out_dims={"a": 1, "b": [0]})(numbers(3, 2))
    same(found["a"], numbers(3, 2).t())
    assert found["b"][0].tolist() == [3.0, 7.0, 11.0]


def test_arguments_given_by_name_are_the_same_for_all_slices():
    found = vmap(lambda x, k: x + k)(numbers(3, 2), k=numbers(3, 2))
    same(found, numbers(3, 1, 2) + numbers(3, 2))
    same(vmap(lambda x, k: x * k, chunk_size=2)(numbers(3, 2), k=numbers(2)), numbers(3, 2) * numbers(2))


def test_results_that_are_the_same_for_all_slices():
    assert vmap(lambda x: gs.ones(2), out_dims=None)(numbers(3, 2)).tolist() == [1.0, 1.0]
    assert vmap(lambda x: gs.ones(2), out_dims=1)(numbers(3, 2)).shape == (2, 3)
    assert vmap(lambda x: ())(numbers(3, 2)) == ()


@pytest.mark.parametrize("chunk_size", [1, 2, 4, 5, 100])
def test_chunks(chunk_size):
    found = vmap(lambda x: (x * 2, {"a": x.sum()}), 1, (1, 0), chunk_size=chunk_size)(numbers(2, 5))
    same(found[0], numbers(2, 5) * 2)
    same(found[1]["a"], numbers(2, 5).sum(0))


def test_no_slices():
    assert vmap(lambda x: x.sum())(gs.zeros(0, 2)).shape == (0,)
    assert vmap(lambda x: x * 2, chunk_size=1)(gs.zeros(0, 2)).shape == (0, 2)


def test_decorators():
    @vmap(in_dims=1, out_dims=1)
    def mapped(x):
        """Doc."""
        return x * x.sum()

    same(mapped(numbers(2, 3)), numbers(2, 3) * numbers(2, 3).sum(0))
    assert (mapped.__name__, mapped.__doc__) == ("mapped", "Doc.")


ARGUMENT_ERRORS = [
    (lambda: vmap(scaled), r"got no inputs: there are no positional arguments, so there is nothing to map over"),
    (lambda: vmap(scaled, None), r"Expected at least one Tensor to vmap over: in_dims is None for every argument"),
    (
        lambda: vmap(scaled, 2),
        r"Got in_dim=2 for some input, but that input is a Tensor of dimensionality 2: args\[0\] has shape \[3, 2\]; "
        "expected a number from -2 to 1",
    ),
    (lambda: vmap(scaled, -3), r"Got in_dim=-3 for some input, .* args\[0\] has shape \[3, 2\]"),
    (
        lambda: vmap(scaled, (0, 0)),
        r"in_dims is not compatible with the structure of `inputs`: in_dims \(0, 0\) does not fit the 1 positional "
        "arguments: .*one entry for each",
    ),
    (lambda: vmap(scaled, 0.5), r"expected `in_dims` to be int or a \(potentially nested\) tuple .*'float'"),
    (
        lambda: vmap(scaled, (0.5,)),
        r"Got in_dim=0\.5 for an input but in_dim must be either an integer dimension or None: .* args\[0\] is 0\.5",
    ),
    (lambda: vmap(scaled, (0.0, None)), r"in_dims is not compatible .* \(0.0, None\)"),
    (lambda: vmap(lambda x: x, ((0,),)), r"in_dims is not compatible .* \(\(0,\),\)|Got in_dim=\(0,\)"),
    (lambda: vmap(scaled, 0, None), r"`f` can not return a BatchedTensor when out_dim is None: output differs"),
    (lambda: vmap(scaled, 0, "a"), r"`out_dims` must be an int, None or a python collection of ints, .* got 'a'"),
    (lambda: vmap(scaled, 0, (0, 0.5)), r"`out_dims` must be an int, .* got \(0, 0\.5\)"),
    (lambda: vmap(scaled, 0, (0, 0)), r"out_dims is not compatible with the structure of `outputs`: .* is one tensor"),
    (
        lambda: vmap(lambda x: (x, x), 0, (0,)),
        r"out_dims is not compatible with the structure of `outputs`: out_dims \(0,\) does not fit the output of f",
    ),
    (
        lambda: vmap(lambda x: None),
        r"`f` must only return Tensors, got type <class 'NoneType'>\. .* output is None: does f lack a return\?",
    ),
    (lambda: vmap(lambda x: (x, 1)), r"`f` must only return Tensors, got type <class 'int'>\. .* output\[1\] is int"),
]


@pytest.mark.parametrize(("make", "text"), ARGUMENT_ERRORS, ids=[text[:30] for _, text in ARGUMENT_ERRORS])
def test_errors_name_the_argument_and_the_function(make, text):
    args = () if "no positional" in text else (numbers(3, 2),)
    with pytest.raises(ValueError, match=rf"vmap\(f\): {text}.*\(f is .*test_vmap\.py:\d+\)$"):
        make()(*args)


def test_a_dimension_of_the_output_that_there_is_not():
    with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got 2\): out_dims is 2 for output, which has 2"):
        vmap(scaled, 0, 2)(numbers(3, 2))


def test_outputs_that_are_no_tensors():
    """They are the same for all slices, which out_dims has to say."""
    found, text = vmap(lambda x: (x * 2, "text"), out_dims=(0, None))(numbers(3, 2))
    same(found, numbers(3, 2) * 2)
    assert text == "text"
    assert vmap(lambda x: (x, None), out_dims=(0, None), chunk_size=2)(numbers(3))[1] is None


def test_sizes_that_differ():
    text = (
        r"Expected all tensors to have the same size in the mapped dimension: args\[0\] has 3 \(dimension 0 of shape "
        r"\[3, 2\]\), args\[1\]\['a'\] has 2 \(dimension 0 of shape \[2\]\)"
    )
    with pytest.raises(ValueError, match=text):
        vmap(lambda x, d: x)(numbers(3, 2), {"a": numbers(2)})


def test_options_that_do_not_exist():
    with pytest.raises(RuntimeError, match=r"Only allowed values for randomness are 'error', .*\. Got 'foo'"):
        vmap(scaled, randomness="foo")
    with pytest.raises(ValueError, match=r"chunk_size should be None or greater than 0\. \(got 0\)"):
        vmap(scaled, chunk_size=0)
    with pytest.raises(TypeError, match=r"vmap\(\): func must be callable, got int"):
        vmap(3)


# ---- values of slices


VALUES = {
    "if": lambda x: x if x.sum() > 0 else -x,
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "index": lambda x: [1, 2, 3][x[0].to(gs.int64)],
    "complex": lambda x: complex(x[0]),
    "in": lambda x: 1.0 in x,
    "array": lambda x: x.__array__(),
    "tensor": lambda x: gs.tensor([x[0], x[1]]),
    "pickle": lambda x: __import__("pickle").dumps(x),
    "deepcopy": lambda x: copy.deepcopy(x),
    "resize": lambda x: x.clone().resize_(1),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_value_of_one_slice_is_an_error(name):
    with pytest.raises(RuntimeError, match=r"vmap\(f\): .*slice.*\(f is .*test_vmap\.py:\d+\)$"):
        vmap(VALUES[name])(numbers(3, 2))


@pytest.mark.parametrize("select", [lambda x: x[x > 2], lambda x: gs.masked_select(x, x > 2)])
def test_a_shape_that_depends_on_values_is_an_error(select):
    with pytest.raises(RuntimeError, match=r"vmap\(f\): .*such as where\(\) or masked_fill\(\)"):
        vmap(select)(numbers(3, 2))


def test_what_a_batched_tensor_says_of_itself():
    seen = []

    def f(x):
        seen.append((x.shape, x.ndim, x.numel(), x.size(0), len(x), x.stride(), x.dtype, x.requires_grad, x.is_leaf))
        seen.append(repr(x))
        return x

    vmap(f)(numbers(3, 2, 4))
    assert seen[0] == ((2, 4), 2, 8, 2, 2, (4, 1), gs.float64, False, True)
    assert "batched=" in seen[1]


def test_slices_without_data_say_so():
    seen = []

    def looked_at(x):
        seen.append((x.device, x.is_meta, x.is_cpu, (x * 2).device, gs.zeros_like(x).device, repr(x)))
        return x + gs.ones(3, device=x.device) + x.new_zeros(3)

    assert gs.vmap(gs.vmap(looked_at))(gs.ones(2, 4, 3, device="meta")).shape == (2, 4, 3)
    assert seen[0][:5] == ("meta", True, False, "meta", "meta")
    assert seen[0][5] == "tensor(..., device='meta', size=(3,), batched=2)"
    with pytest.raises(RuntimeError, match="same device, but found at least two devices, meta and cpu"):
        gs.vmap(lambda x: x + gs.ones(3))(gs.ones(2, 3, device="meta"))


def test_a_copy_is_of_all_slices():
    same(vmap(lambda x: copy.copy(x) * 2)(numbers(3, 2)), numbers(3, 2) * 2)


def test_iteration_is_over_the_dimensions_of_a_slice():
    same(vmap(lambda x: sum(x))(numbers(3, 2)), numbers(3, 2).sum(1))
    same(vmap(lambda x: list(x)[1])(numbers(3, 2)), numbers(3, 2)[:, 1])


# ---- writes


WRITES = {
    "add": lambda x, o: o.add_(x),
    "copy": lambda x, o: o.copy_(x),
    "element": lambda x, o: o.__setitem__(0, x[0]),
    "new": lambda x, o: gs.zeros(2, dtype=gs.float64).mul_(x),
}


@pytest.mark.parametrize("name", WRITES)
def test_values_of_slices_written_into_a_tensor_that_is_one_for_all(name):
    def f(x, o):
        WRITES[name](x, o)
        return o

    other = numbers(2)
    with pytest.raises(RuntimeError, match=r"that stands for itself is written with values that differ.*zeros_like"):
        vmap(f, (0, None))(numbers(3, 2), other)
    same(other, numbers(2))


def test_out_is_refused():
    with pytest.raises(RuntimeError, match=r"add\(\): the form with out= writes into one tensor for all slices"):
        vmap(lambda x: gs.add(x, x, out=gs.empty_like(x)))(numbers(3, 2))


def test_a_write_to_an_argument_is_seen_outside():
    x = numbers(3, 2)
    vmap(lambda row: row[0:1].mul_(10))(x)
    assert x.tolist() == [[10.0, 2.0], [30.0, 4.0], [50.0, 6.0]]


def test_writes_to_parts_of_slices():
    def f(x, i):
        x = x.clone()
        x[0] = 7
        x[i] = x[1] * 2
        x.view(2, 2).t()[1].add_(x[:2])
        return x

    index = gs.tensor([0, 1, 2])
    same(vmap(f)(numbers(3, 4), index), gs.stack([f(numbers(3, 4)[n], index[n]) for n in range(3)]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x, number, places: x[number, :, places],
        lambda x, number, places: x[number, :2, places],
        lambda x, number, places: x[1, :, places],
        lambda x, number, places: x[places[0] % 3, :, 1, None],
        lambda x, number, places: x[:, number, places],
        lambda x, number, places: x[number, places[0] % 4, places],
        lambda x, number, places: x[number, ..., 0],
    ],
)
@pytest.mark.parametrize("count", [2, 1])
def test_numbers_beside_indices_that_are_arrays(f, count):
    """A number, also one for each slice, selects before the arrays are looked up."""
    x, number, places = numbers(count, 3, 4, 5), gs.tensor([2, 0])[:count], gs.tensor([[1, 3, 0], [2, 2, 4]])[:count]
    same(vmap(f)(x, number, places), gs.stack([f(x[n], number[n], places[n]) for n in range(count)]))


# ---- random numbers


DRAWS = {
    "rand": lambda x: gs.rand(5),
    "randn": lambda x: gs.randn(5),
    "randint": lambda x: gs.randint(0, 10**6, (5,)),
    "randperm": lambda x: gs.randperm(20),
    "rand_like": lambda x: gs.rand_like(x),
    "randn_like": lambda x: gs.randn_like(x),
    "randint_like": lambda x: gs.randint_like(x, 10**6),
    "normal": lambda x: gs.normal(x - x, 1.0),
    "bernoulli": lambda x: gs.bernoulli(x * 0 + 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers(name):
    x = numbers(3, 40)
    with pytest.raises(RuntimeError, match=rf"random operation .* error mode: {name}\(\) draws random numbers, and"):
        vmap(DRAWS[name])(x)
    alike = vmap(DRAWS[name], randomness="same")(x)
    assert alike[0].tolist() == alike[1].tolist()
    found = vmap(DRAWS[name], randomness="different")(x)
    assert found[0].tolist() != found[1].tolist()


@pytest.mark.parametrize("outer", ["same", "different"])
@pytest.mark.parametrize("inner", ["same", "different"])
def test_random_numbers_of_nested_calls(outer, inner):
    found = vmap(vmap(lambda x: gs.rand(5), randomness=inner), randomness=outer)(numbers(3, 2))
    assert (found[0, 0].tolist() == found[0, 1].tolist()) == (inner == "same")
    assert (found[0, 0].tolist() == found[1, 0].tolist()) == (outer == "same")


def test_each_of_nested_calls_has_to_say_what_random_numbers_are():
    for inner, outer in (("same", "error"), ("error", "same")):
        with pytest.raises(RuntimeError, match=r"rand\(\) draws random numbers"):
            vmap(vmap(lambda x: gs.rand(5), randomness=inner), randomness=outer)(numbers(3, 2))


# Of tensors that are the same in all slices.
OF_ONE_TENSOR = {
    "counted_by": lambda x: gs.poisson(gs.full((30,), 100.0)),
    "multinomial": lambda x: gs.multinomial(gs.ones(20), 15),
    "drawn_by": lambda x: gs.distributions.Gamma(gs.ones(30), 1.0).sample(),
    "binomial": lambda x: gs.binomial(gs.full((30,), 1000.0), gs.full((30,), 0.5)),
    "categorical": lambda x: gs.distributions.Categorical(gs.ones(20)).sample((30,)),
}


@pytest.mark.parametrize("outer", ["same", "different"])
@pytest.mark.parametrize("inner", ["same", "different"])
@pytest.mark.parametrize("name", OF_ONE_TENSOR)
@pytest.mark.filterwarnings("ignore:vmap calls")
def test_random_numbers_by_a_tensor_that_has_no_slices(name, inner, outer):
    draw = OF_ONE_TENSOR[name]
    inside = vmap(draw, randomness=inner)
    expected = (3 if outer == "different" else 1) * (2 if inner == "different" else 1)
    # the second has slices of the outer call, but none of the inner one
    for function in (inside, lambda x: inside(gs.ones(2)) + 0 * x[0]):
        found = vmap(function, randomness=outer)(numbers(3, 2))
        assert len({tuple(row) for row in found.flatten(0, 1).tolist()}) == expected
    assert vmap(draw, randomness=inner)(gs.ones(0)).shape[0] == 0


@pytest.mark.parametrize("name", OF_ONE_TENSOR)
def test_whether_they_differ_has_to_be_said(name):
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        vmap(OF_ONE_TENSOR[name])(numbers(3, 2))


def test_what_random_numbers_cannot_be_drawn_by_is_an_error_once():
    with pytest.raises(RuntimeError, match="cannot sample n_sample > prob_dist"):
        vmap(lambda x: gs.multinomial(gs.ones(3), 4), randomness="different")(gs.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="vmap calls multinomial"):
            vmap(lambda x: gs.multinomial(gs.ones(3), 2), randomness="different")(gs.ones(2))


FILLS = {
    "uniform_": lambda x: x.uniform_(),
    "normal_": lambda x: x.normal_(),
    "random_": lambda x: x.random_(10**6),
    "bernoulli_": lambda x: x.bernoulli_(gs.full((30,), 0.5)),
    "exponential_": lambda x: x.exponential_(),
}


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.filterwarnings("ignore:vmap calls")
def test_random_numbers_written_into_a_tensor(name):
    fill = FILLS[name]

    def anew(x):
        return fill(gs.zeros(30))

    with pytest.raises(RuntimeError, match=rf"error mode: {name}\(\) draws random numbers"):
        vmap(anew)(numbers(3, 2))
    found = vmap(anew, randomness="same")(numbers(3, 2))
    assert found[0].tolist() == found[1].tolist()
    with pytest.raises(RuntimeError, match=rf"{name}\(\): a tensor of shape \[30\] that is the same for all slices"):
        vmap(anew, randomness="different")(numbers(3, 2))
    found = vmap(fill, randomness="different")(gs.zeros(3, 30))
    assert found[0].tolist() != found[1].tolist()


# ---- gradients


def test_recording_outside_and_inside():
    x = numbers(3, 2).requires_grad_()
    assert vmap(scaled)(x).requires_grad
    assert not vmap(lambda x: x.detach() * 2)(x).requires_grad
    with gs.no_grad():
        assert not vmap(scaled)(x).requires_grad
        same(vmap(grad(lambda x: (x * x).sum()))(x), 2 * x.detach())
    vmap(lambda x: (x * x).sum())(x).sum().backward()
    same(x.grad, 2 * x.detach())


def test_no_grad_inside_makes_constants():
    def f(x):
        with gs.no_grad():
            y = x * x
        return (x * y).sum()

    same(vmap(grad(f))(numbers(3, 2)), numbers(3, 2) ** 2)


def test_leaves_made_inside():
    def f(x):
        y = x.clone().requires_grad_()
        return gs.autograd.grad((y**2).sum(), y)[0]

    same(vmap(f)(numbers(3, 2)), numbers(3, 2) * 2)


# ---- ends of a call


def test_a_tensor_kept_from_inside_is_named_when_it_is_used():
    kept = []
    vmap(lambda x: (kept.append(x * 2), x)[1])(numbers(3, 2))
    with pytest.raises(RuntimeError, match=r"vmap\(f\): a tensor of shape \[2\] is used after the call .*return it"):
        kept[0] + 1


def test_a_function_that_keeps_its_tensors_is_freed_with_them():
    class Function:
        def __call__(self, x):
            self.kept = x * 2
            return x

    for transform in (vmap, lambda f: vmap(grad(lambda x: f(x).sum())), jacfwd, lambda f: vmap(jacrev(f))):
        f = Function()
        transform(f)(numbers(3, 2))
        ref = weakref.ref(f)
        del f
        gc.collect()
        assert ref() is None


@pytest.mark.parametrize("transform", [vmap, lambda f: vmap(grad(vmap(f))), lambda f: vmap(jacfwd(f)), hessian])
def test_an_exception_ends_all_levels(transform):
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        transform(f)(numbers(3, 4, 2))


def test_threads_have_levels_of_their_own():
    seen = []

    def f(x):
        thread = threading.Thread(target=lambda: seen.append((open_levels(), vmap(scaled)(numbers(2, 2)).tolist())))
        thread.start()
        thread.join()
        return x

    vmap(f)(numbers(3, 2))
    assert seen == [((), [[2.0, 4.0], [6.0, 8.0]])]


# ---- tangents in batches and of strided tensors


def test_the_gradient_of_a_tangent_that_is_broadcast():
    x, c = numbers(2, 3), numbers(3)
    found = vmap(lambda x: vjp(lambda y: jvp(lambda z: (z.unsqueeze(1) + x) @ c, (y,), (y,))[1], x)[1](x)[0])(x)
    same(found, 6 * x)


LAYOUTS = {
    "gaps": lambda x: x[:, ::2],
    "rows left out": lambda x: x[::2],
    "columns": lambda x: x[:, ::3].t(),
    "backwards": lambda x: x.flip(1)[:, 1::2],
    "broadcast": lambda x: x[0].expand(4, 6),
    "windows": lambda x: x.as_strided((4, 3), (2, 1)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_tangents_of_parts_of_strided_tensors(name):
    x = LAYOUTS[name](numbers(4, 6))
    v = (x * 1.0).sin()
    product = lambda z: z[1] * z[0]  # noqa: E731
    expected = v[1] * x[0] + x[1] * v[0]
    same(jvp(product, (x,), (v,))[1], expected)
    same(vmap(lambda x, v: jvp(product, (x,), (v,))[1], (1, 1))(x, v), expected)
    same(jacfwd(product)(x), jacrev(product)(x))
    with forward_ad.dual_level():
        same(forward_ad.unpack_dual(product(forward_ad.make_dual(x, v))).tangent, expected)


def written(z):
    z = z.clone()
    z[1:] *= 2
    z.view(3, 1)[:, 0].mul_(z.flip(0).clone())
    z[2:] = z[2:].mul_(3)
    return z


def test_writes_into_views_whose_tangents_are_batched():
    x = numbers(3)
    expected = jacrev(written)(x)
    same(jacfwd(written)(x), expected)
    same(vmap(jacfwd(written))(gs.stack([x, x])), gs.stack([expected, expected]))
    same(hessian(hessian(written))(x), gs.zeros((3,) * 5, dtype=gs.float64))
    same(jacfwd(jacfwd(written))(x), jacrev(jacrev(written))(x))
    same(jvp(written, (x,), (x,))[1], expected @ x)


def test_no_dimensions_mean_what_they_mean_for_a_slice():
    x = gs.ones(3, 1, 1)
    assert gs.vmap(lambda x: x.squeeze(()))(x).shape == (3, 1, 1)
    assert gs.vmap(lambda x: x.flip(()))(x).shape == (3, 1, 1)
    assert gs.vmap(lambda x: x.amax((), True))(x).tolist() == [[[1.0]], [[1.0]], [[1.0]]]
    assert gs.vmap(lambda x: x.amax(()))(x).tolist() == [1.0, 1.0, 1.0]
    assert gs.vmap(lambda x: x.sum((), True))(2 * x).tolist() == [[[2.0]], [[2.0]], [[2.0]]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.gather(0, gs.tensor([0, 0, 0])),
        lambda x: x.unfold(0, 1, 1),
        lambda x: x.gather(0, gs.tensor(0)) + x.topk(1)[0] + x.sum(0, keepdim=True) + x.sort()[0],
    ],
)
def test_numbers_give_results_of_the_shape_that_one_number_gives(function):
    x = gs.arange(3.0, dtype=gs.float64)
    expected = gs.stack([function(row) for row in x])
    assert gs.vmap(function)(x).equal(expected)
    gradients = gs.vmap(gs.func.grad(lambda row: (function(row) ** 2).sum()))(x)
    assert gradients.equal(gs.stack([gs.func.grad(lambda row: (function(row) ** 2).sum())(row) for row in x]))


@pytest.mark.parametrize("name", ["atol", "rtol"])
def test_tolerances_that_differ_from_slice_to_slice(name):
    x = gs.sin(gs.arange(24.0, dtype=gs.float64) ** 2).reshape(2, 4, 3)
    tolerances = gs.tensor([0.1, 1.5], dtype=gs.float64)

    def inverse(x, tolerance):
        return gs.linalg.pinv(x, **{name: tolerance})

    expected = gs.stack([inverse(*pair) for pair in zip(x, tolerances)])
    assert gs.allclose(gs.vmap(inverse)(x, tolerances), expected)


def test_tensors_of_no_elements_fit_everywhere():
    x, nothing = gs.ones(2, 3, 4), gs.zeros(2, 0)
    for dim, arguments in ((1, (nothing, x)), (0, (x, nothing)), (-1, (nothing, x))):
        assert gs.vmap(lambda *tensors, dim=dim: gs.cat(tensors, dim))(*arguments).equal(x)
