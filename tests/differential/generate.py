"""Draws the steps of a program one by one, knowing what the steps before have given."""

from __future__ import annotations

from collections.abc import Iterator

from gradsmith.generated.op_table import OPS

from .arguments import Arguments
from .draw import Draw, Value
from .machine import Machine
from .program import Step

# PyTorch's losses beside `nn.functional` take numbers for their reduction.
IN_FUNCTIONAL = frozenset({
    "softplus", "gelu", "silu", "linear", *(row.base for row in OPS if "reduction" in row.parameters)
})  # fmt: skip
# `index` is what brackets do, under a name that PyTorch does not have; what is drawn differs from library to library.
CALLED = tuple(
    row
    for row in OPS
    if "internal" not in row.forms and row.base != "index" and not row.batching.endswith("draws random numbers")
)
OPERATORS = ("+", "-", "*", "/", "**", "@", "//", "%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^")
IN_PLACE_OPERATORS = ("+=", "-=", "*=", "/=", "**=", "//=", "%=", "&=", "|=", "^=")
MODES = ("lib.no_grad()", "lib.no_grad()", "lib.enable_grad()", "saved_hooks(2)", "lib.inference_mode()")
FACTORS = ("None", "None", "2", "-0.5", "0")
CUSTOM = ("Cube", "Cube", "Product", "Doubled", "Both", "Viewed", "Once")
# Kinds of steps, and how often each is drawn.
KINDS = {
    "make": 10, "op": 46, "get": 9, "set": 7, "operator": 8, "backward": 8, "grad": 6, "hook": 6, "leaf": 5,
    "create": 3, "custom": 4, "dual": 4, "plain": 3,
}  # fmt: skip


class Generator:
    """Draws a program; `machine` is one that has carried out what was drawn so far."""

    def __init__(self, seed: int, machine: Machine, ops=CALLED) -> None:
        self.draw, self.machine, self.ops = Draw(seed), machine, ops
        self.length = self.draw.randint(3, 14)
        self.watched = self.draw.chance(0.4)  # are all values compared after every step
        self.level_is_open = False

    def steps(self) -> Iterator[Step]:
        """The steps; each is to be carried out before the next is asked for."""
        for number in range(self.length):
            self.draw.made.clear()
            kind = "make" if number < 2 else self.draw.weighted(KINDS)
            step = getattr(self, f"_{kind}")(self.pool())
            yield from list(self.draw.made)
            if step is not None:
                yield step
        yield from self._end()

    def pool(self) -> list[Value]:
        values = ((name, self.machine.facts(tensor)) for name, tensor in self.machine.tensors().items())
        return [
            Value(name, facts.shape, facts.dtype, facts.requires_grad, facts.is_leaf, facts.has_node)
            for name, facts in values
            if not facts.dtype.startswith("refused")
        ]

    def name(self) -> str:
        self.draw.count += 1
        return f"t{self.draw.count}"

    def step(self, call, args=(), kwargs=None, gives=True, modes=True) -> Step:
        mode = self.draw.choice(MODES[: None if modes else 4]) if modes and self.draw.chance(0.08) else None
        return Step(call, tuple(args), kwargs or {}, self.name() if gives else None, mode)

    # ---- the kinds of steps

    def _make(self, pool):
        self.draw.tensor()

    def _op(self, pool):
        row = self.draw.choice(self.ops)
        texts = Arguments(self.draw, pool).of(row)
        form = self.draw.choice(row.forms)
        name = self.draw.choice((row.base, row.base, *row.aliases))
        values, keywords, left_out = [], {}, False
        is_method = form in ("method", "inplace")  # of the tensor, wherever the function takes it: `x.polygamma_(2)`
        for argument in sorted(row.arguments, key=lambda a: is_method and a.name != "self"):
            if argument.name not in texts:
                left_out = True
            elif left_out or argument.keyword_only or (row.base in IN_FUNCTIONAL and argument.default is not None):
                keywords["input" if argument.name == "self" else argument.name] = texts[argument.name]
            else:
                values.append(texts[argument.name])
        if form == "out":
            keywords["out"] = self._out(row, pool)
        return self.step(call_text(row, form, name), values, keywords)

    def _out(self, row, pool):
        """Tensors for results: values of the program, or new ones, of whatever shape."""
        draw = self.draw
        candidates = [v.name for v in pool if not v.requires_grad]
        parts = []
        for _ in row.returns:
            shape = (0,) if draw.chance(0.6) else None
            new = draw.tensor(shape, requires_grad=False)
            parts.append(draw.choice(candidates) if candidates and draw.chance(0.4) else new)
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def _get(self, pool):
        if value := self.choice(pool):
            return self.step("{0}[{1}]", [value.name, self.draw.index(value, pool)])

    def _set(self, pool):
        if not (value := self.choice(pool)):
            return None
        draw = self.draw
        kind = draw.random()
        source = (
            draw.number()
            if kind < 0.35
            else draw.choice(pool).name
            if kind < 0.6
            else draw.tensor(draw.part_of(value.shape[1:]), value.dtype if draw.chance(0.8) else None)
        )
        return self.step("{0}[{1}] = {2}", [value.name, draw.index(value, pool), source], gives=False)

    def _operator(self, pool):
        if not (value := self.choice(pool)):
            return None
        draw = self.draw
        other = draw.number() if draw.chance(0.35) else Arguments(draw, pool).operand(value)
        if draw.chance(0.25) and "[" not in value.name:
            return self.step(f"{{0}} {draw.choice(IN_PLACE_OPERATORS)} {{1}}", [value.name, other], gives=False)
        if draw.chance(0.1):
            return self.step(f"{draw.choice(['-', '+', '~', 'abs'])}({{0}})", [value.name])
        operands = [value.name, other]
        draw.shuffle(operands)
        return self.step(f"{{0}} {draw.choice(OPERATORS)} {{1}}", operands)

    def _gradient_for(self, value):
        return self.draw.tensor(value.shape, value.dtype, "normal", requires_grad=self.draw.chance(0.1))

    def _backward(self, pool):
        roots = [v for v in pool if v.requires_grad and v.is_float]
        if not roots:
            return None
        draw, keywords = self.draw, {}
        root = draw.choice(roots[-3:])
        if (root.size != 1 and draw.chance(0.97)) or draw.chance(0.2):
            keywords["gradient"] = self._gradient_for(root)
        keywords |= {name: "True" for name, p in (("retain_graph", 0.4), ("create_graph", 0.25)) if draw.chance(p)}
        if draw.chance(0.12):
            leaves = [v.name for v in roots if v.is_leaf or draw.chance(0.1)]
            keywords["inputs"] = f"[{', '.join(leaves)}]"
        return self.step(".backward", [root.name], keywords, gives=False)

    def _grad(self, pool):
        roots = [v for v in pool if v.requires_grad and v.is_float]
        if not roots:
            return None
        draw = self.draw
        outputs = draw.sample(roots, min(len(roots), draw.choice([1, 1, 1, 2])))
        inputs = draw.sample(roots, min(len(roots), draw.choice([1, 1, 2, 3])))
        gradients = [self._gradient_for(v) for v in outputs]
        args = [f"[{', '.join(names)}]" for names in ([v.name for v in outputs], [v.name for v in inputs], gradients)]
        chances = {"retain_graph": 0.4, "create_graph": 0.4, "allow_unused": 0.6, "materialize_grads": 0.15}
        keywords = {name: "True" for name, p in chances.items() if draw.chance(p)}
        return self.step("lib.autograd.grad", args, keywords)

    def _hook(self, pool):
        values = [v for v in pool if v.requires_grad]
        if not values:
            return None
        draw, value = self.draw, self.draw.choice(values)
        label = repr(f"hook {draw.randint(0, 999)}")
        call = draw.choice(["hook", "hook", "node_hook", "node_prehook", "accumulate_hook"])
        if call.startswith("node") and not value.has_node:
            call = "hook"
        if call == "accumulate_hook":
            leaves = [v for v in values if v.is_leaf]
            return self.step(call, [draw.choice(leaves or values).name, label], gives=False, modes=False)
        return self.step(call, [value.name, label, draw.choice(FACTORS)], gives=False, modes=False)

    def _leaf(self, pool):
        """A change of a tensor itself."""
        if not (value := self.choice(pool)):
            return None
        draw = self.draw
        call = draw.choice(["retain_grad", "requires_grad_", "detach_", "grad = None", "zero", "data", "requires_grad"])
        if call in ("retain_grad", "requires_grad_", "detach_"):
            arguments = [repr(draw.chance(0.7))] if call == "requires_grad_" else []
            return self.step(f".{call}", [value.name, *arguments], gives=False)
        if call == "grad = None":
            return self.step(
                "{0}.grad = {1}", [value.name, draw.choice(["None", self._gradient_for(value)])], gives=False
            )
        if call == "requires_grad":
            return self.step("{0}.requires_grad = {1}", [value.name, repr(draw.chance(0.6))], gives=False)
        if call == "data":
            return self.step("{0}.data", [value.name])
        return (
            self.step(".zero_", [f"{value.name}.grad"], gives=False) if value.is_leaf and value.requires_grad else None
        )

    def _create(self, pool):
        draw = self.draw
        like = self.choice(pool)
        dtype = {"dtype": f"lib.{draw.dtype()}"} if draw.chance(0.5) else {}
        kind = draw.choice(["arange", "linspace", "eye", "full", "like", "full_like", "tensor", "ones"])
        if kind == "arange":
            return self.step("lib.arange", draw.sample(["0", "1", "5", "7", "2.5", "-1"], draw.randint(1, 2)), dtype)
        if kind == "linspace":
            return self.step("lib.linspace", [draw.number(), draw.number(), str(draw.randint(0, 6))], dtype)
        if kind == "full":
            return self.step("lib.full", [repr(draw.shape()), draw.number()], dtype)
        if kind == "tensor":
            return self.step(
                "lib.tensor", [draw.choice(["[1, 2]", "[1.5, 2]", "True", "[[1], [2]]", "[]", "3.5"])], dtype
            )
        if kind in ("like", "full_like") and like:
            call, more = (
                (f"lib.{draw.choice(['zeros', 'ones'])}_like", [])
                if kind == "like"
                else ("lib.full_like", [draw.number()])
            )
            return self.step(call, [like.name, *more], dtype)
        if kind == "eye":
            return self.step("lib.eye", [str(draw.randint(0, 4))], dtype)
        return self.step("lib.ones", [repr(draw.shape())], dtype)

    def _custom(self, pool):
        values = [v for v in pool if v.is_float]
        if not values:
            return None
        draw = self.draw
        name, value = draw.choice(CUSTOM), draw.choice(values)
        arguments = [value.name]
        if name == "Product":
            same = [v.name for v in values if v.shape == value.shape and v.dtype == value.dtype]
            arguments += [draw.choice(same), "2"]
        return self.step(f"{name}.apply", arguments)

    def _dual(self, pool):
        """Forward mode: a level, duals, and what became of them."""
        values = [v for v in pool if v.is_float]
        if not values:
            return None
        if not self.level_is_open:
            self.level_is_open = True
            return self.step("enter_level", gives=False, modes=False)
        value = self.draw.choice(values)
        if self.draw.chance(0.5):
            return self.step("parts", [value.name], modes=False)
        tangent = self.draw.tensor(value.shape, value.dtype, "normal")
        return self.step("lib.autograd.forward_ad.make_dual", [value.name, tangent], modes=False)

    def _plain(self, pool):
        """A call that gives no tensor."""
        if not (value := self.choice(pool)):
            return None
        call = self.draw.choice([".tolist", ".item", "len", "bool", "float", "int", ".is_contiguous", ".storage_offset",
                                 ".numel", ".dim", ".is_floating_point", ".element_size"])  # fmt: skip
        return self.step(call, [value.name])

    def _end(self):
        """A backward through what was made, and the tangents."""
        pool = self.pool()
        roots = [v for v in pool if v.requires_grad and v.is_float and v.has_node]
        self.draw.made.clear()
        for root in self.draw.sample(roots, min(2, len(roots))):
            gradient = self._gradient_for(root)
            yield from list(self.draw.made)
            self.draw.made.clear()
            yield Step(
                ".backward",
                (root.name,),
                {"gradient": gradient} | ({"create_graph": "True"} if self.draw.chance(0.2) else {}),
            )
        if self.level_is_open:
            for value in [v for v in self.pool() if v.is_float][-3:]:
                yield Step("parts", (value.name,), {}, self.name())

    def choice(self, pool):
        return self.draw.choice(pool[-4:] if self.draw.chance(0.5) else pool) if pool else None


def call_text(row, form, name) -> str:
    if form == "property":
        return f"{{0}}.{row.base}"
    if form == "method" or form == "inplace":
        return f".{name}" + ("_" if form == "inplace" else "")
    name = f"{name}_copy" if form == "copy" else name
    return f"lib.nn.functional.{name}" if row.base in IN_FUNCTIONAL else f"lib.{name}"
