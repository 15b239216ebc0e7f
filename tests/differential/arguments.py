"""Random arguments for the ops of the table.

The values an argument may have follow from its type and name in the schema, and for ops whose operands must fit
together from an entry of `TOGETHER`. An op that neither describes gets the arguments of one of its samples, with other
dtypes and layouts: so a new entry takes part by itself.
"""

from __future__ import annotations

import numpy as np

from gradsmith.verify.samples import evaluate, is_written_out

from .draw import FLOATS, Draw, Value

Texts = dict[str, str]


class Unknown(Exception):
    """No rule says what an argument may be."""


class Arguments:
    def __init__(self, draw: Draw, pool: list[Value]) -> None:
        self.draw, self.pool = draw, pool

    def of(self, row) -> Texts:
        """Argument -> text, in the order of the schema."""
        together = TOGETHER.get(row.base)
        if self.draw.chance(0.25) and row.samples:
            return self.from_sample(row)
        try:
            return together(self, row) if together else self.by_rules(row)
        except Unknown:
            return self.from_sample(row)

    def from_sample(self, row) -> Texts:
        sample, dtype, texts = self.draw.choice(row.samples), self.draw.choice(FLOATS[:2] * 3 + FLOATS), {}
        for argument in row.arguments:
            if argument.name in sample:
                value = evaluate(sample[argument.name], self.draw.randint(0, 99), dtype)
                value = np.asarray(value) if is_written_out(argument, value) else value
                is_named = argument.type in ("dtype", "dtype?") or argument.name == "memory_format"
                of_library = is_named and isinstance(value, str)
                texts[argument.name] = f"lib.{value}" if of_library else self.text_of(value)
        return texts

    def text_of(self, value) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(self.text_of, value))}]"
        if not isinstance(value, np.ndarray):
            return repr(value)
        same = [v.name for v in self.pool if v.shape == value.shape and v.is_float]
        if same and value.dtype.kind in "fc" and self.draw.chance(0.4):
            return self.draw.choice(same)
        numbers = (np.round(value, 4) if value.dtype.kind in "fc" else value).tolist()
        layout = self.draw.choice(["rows", "rows", "columns", "every other", "offset"])
        texts = [repr(numbers), repr(value.dtype.name), repr(value.shape), f"layout={layout!r}"]
        return self.draw.named(texts, value.dtype.kind in "fc" and self.draw.chance(0.7))

    # ---- by type and name

    def by_rules(self, row) -> Texts:
        first = row.arguments[0]
        texts, value = {}, None
        for argument in row.arguments:
            if argument.default is not None and self.draw.chance(0.9 if argument.name == "copy" else 0.5):
                continue
            if argument is first and argument.type.startswith("Tensor") and not argument.type.endswith("]"):
                takes_number = "Scalar" in argument.type and self.draw.chance(0.1)
                value = self.tensor()
                texts[argument.name] = self.draw.number() if takes_number else value.name
            else:
                texts[argument.name] = self.one(argument, value, row)
        return texts

    def one(self, argument, value: Value | None, row) -> str:
        kind, name, draw = argument.type, argument.name, self.draw
        if value is None:
            raise Unknown(name)
        if kind == "Tensor|Scalar" or kind == "object":
            if kind == "object" and name not in ("min", "max"):
                raise Unknown(name)
            return draw.number() if draw.chance(0.35) else self.operand(value)
        if kind.startswith("Tensor") and name in ("mask", "condition"):
            return self.mask(value)
        if kind == "Tensor" and name in ("other", "target"):
            return self.operand(value)
        rule = RULES.get((kind.removesuffix("?"), name)) or RULES.get((kind.removesuffix("?"), "*"))
        if rule is None:
            raise Unknown(name)
        if kind.endswith("?") and draw.chance(0.25):
            return "None"
        return rule(self, value)

    def tensor(self, *, ndim=None, plain=False) -> Value:
        """A value of the program, or a new one."""
        fitting = [v for v in self.pool if ndim is None or v.ndim == ndim]
        if fitting and self.draw.chance(0.8):
            return self.draw.choice(fitting[-4:] if self.draw.chance(0.5) else fitting)
        shape = self.draw.shape() if ndim is None else tuple(self.draw.randint(1, 4) for _ in range(ndim))
        dtype = self.draw.dtype()
        return Value(self.draw.tensor(shape, dtype), shape, dtype, False, True, False)

    def operand(self, value: Value) -> str:
        """A tensor that broadcasts with a value, mostly."""
        draw = self.draw
        if self.pool and draw.chance(0.6):
            fitting = [v for v in self.pool if broadcasts(v.shape, value.shape)]
            return draw.choice(fitting if fitting and draw.chance(0.95) else self.pool).name
        shape = draw.part_of(value.shape) if draw.chance(0.6) else value.shape
        return draw.tensor(shape, value.dtype if draw.chance(0.7) else None)

    def mask(self, value: Value) -> str:
        masks = [v.name for v in self.pool if v.dtype == "bool" and broadcasts(v.shape, value.shape)]
        if masks and self.draw.chance(0.6):
            return self.draw.choice(masks)
        return self.draw.tensor(self.draw.part_of(value.shape), "bool", "small", False)

    # ---- operands that must fit together

    def matrices(self, row) -> Texts:
        draw, (first, second) = self.draw, [a.name for a in row.arguments[:2]]
        ranks = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "outer": (1, 1)}
        a = self.tensor(ndim=ranks[row.base][0] if row.base in ranks else None)
        rank = ranks.get(row.base, (0, draw.choice([1, 2, 2, 3])))[1]
        shape = [draw.randint(1, 4) for _ in range(rank)]
        if row.base != "outer" and a.ndim:
            shape[-2 if rank > 1 else -1] = a.shape[-1]
        if rank == 3 and a.ndim == 3:
            shape[0] = a.shape[0]
        fitting = [v.name for v in self.pool if v.shape == tuple(shape) and v.dtype == a.dtype]
        if fitting and draw.chance(0.6):
            return {first: a.name, second: draw.choice(fitting)}
        return {first: a.name, second: draw.tensor(shape, a.dtype if draw.chance(0.95) else None)}

    def linear(self, row) -> Texts:
        draw, x = self.draw, self.tensor()
        inside, outside = x.shape[-1] if x.ndim else 1, draw.randint(1, 4)
        weight = (inside,) if draw.chance(0.1) else (outside, inside)
        texts = {"self": x.name, "weight": draw.tensor(weight, x.dtype)}
        return texts | ({"bias": draw.tensor(weight[:-1], x.dtype)} if draw.chance(0.5) else {})

    def joined(self, row) -> Texts:
        draw, x = self.draw, self.tensor()
        dim = draw.dim(x.ndim + (row.base == "stack"))
        same = [v.name for v in self.pool if v.shape == x.shape]
        parts = [x.name]
        for _ in range(draw.randint(0, 2)):
            shape = list(x.shape)
            if row.base == "cat" and x.ndim and -x.ndim <= dim < x.ndim and draw.chance(0.4):
                shape[dim] = draw.randint(0, 3)
            new = draw.tensor(shape, x.dtype if draw.chance(0.8) else None)
            parts.append(draw.choice(same) if same and draw.chance(0.5) else new)
        draw.shuffle(parts)
        return {"tensors": f"[{', '.join(parts)}]"} | ({"dim": str(dim)} if draw.chance(0.8) else {})

    def moved(self, row) -> Texts:
        """gather, scatter and their kin."""
        draw, x = self.draw, self.tensor()
        dim = draw.dim(x.ndim)
        known = -x.ndim <= dim < x.ndim
        size = x.shape[dim] if known and x.ndim else 1
        if row.base in ("index_select", "index_add"):
            shape: tuple[int, ...] = (draw.randint(0, 4),) if draw.chance(0.9) else ()
            source = list(x.shape)
            if known and x.ndim:
                source[dim] = shape[0] if shape else 1
        else:
            shape = tuple(draw.randint(0 if draw.chance(0.1) else 1, max(n, 1)) for n in x.shape)
            source = [n + draw.choice([0, 0, 1]) for n in shape]
        texts = {"self": x.name, "dim": str(dim), "index": draw.whole_numbers(shape, size)}
        for argument in row.arguments[3:]:
            if argument.name in ("src", "source"):
                number = "Scalar" in argument.type and draw.chance(0.3)
                new = draw.tensor(source, x.dtype if draw.chance(0.95) else None)
                texts[argument.name] = draw.number() if number else new
            elif draw.chance(0.4):
                texts[argument.name] = draw.number()
        return texts

    def put(self, row) -> Texts:
        draw, x = self.draw, self.tensor()
        count = draw.randint(1, max(x.ndim, 1))
        shape = draw.choice([(2,), (3,), (1,), (2, 1)])
        indices = [draw.whole_numbers(shape, n) for n in x.shape[:count]]
        values = draw.tensor(draw.part_of((*shape, *x.shape[count:])), x.dtype if draw.chance(0.95) else None)
        return {"self": x.name, "index": f"({', '.join(indices)},)", "values": values} | (
            {"accumulate": repr(draw.chance(0.6))} if draw.chance(0.6) else {}
        )

    def targets(self, row) -> Texts:
        """nll_loss and cross_entropy."""
        draw, classes = self.draw, self.draw.randint(1, 4)
        shape = draw.choice([(3, classes), (3, classes), (classes,), (2, classes, 2)])
        x = next((v.name for v in self.pool if v.shape == shape and v.is_float), None)
        x = x or draw.tensor(shape, draw.choice(["float64", "float32"]), "normal")
        target_shape = shape[:-1] if len(shape) == 2 else () if len(shape) == 1 else (2, 2)
        texts = {"self": x, "target": draw.tensor(target_shape, "int64", f"below {classes}", False)}
        if draw.chance(0.3):
            texts["ignore_index"] = str(draw.randint(-1, classes))
        if draw.chance(0.5):
            texts["reduction"] = draw.choice(["'mean'", "'sum'", "'none'"])
        if row.base == "cross_entropy" and draw.chance(0.3):
            texts["label_smoothing"] = draw.choice(["0.1", "0.5", "1.0", "-0.1"])
        return texts

    def strided(self, row) -> Texts:
        draw, x = self.draw, self.tensor()
        size = tuple(draw.randint(1, 3) for _ in range(draw.randint(0, 2)))
        stride = tuple(draw.randint(0, 3) for _ in size)
        reach = sum((n - 1) * s for n, s in zip(size, stride))
        if reach >= x.size:
            size, stride, reach = (), (), 0
        texts = {"self": x.name, "size": repr(size), "stride": repr(stride)}
        return texts | (
            {"storage_offset": str(draw.randint(0, x.size - 1 - reach))} if x.size and draw.chance(0.5) else {}
        )

    def choice_of_two(self, row) -> Texts:
        """where"""
        x = self.tensor()
        one, other = (self.draw.number() if self.draw.chance(0.25) else self.operand(x) for _ in range(2))
        return {"condition": self.mask(x), "self": one, "other": other}

    def reshaped(self, row) -> Texts:
        x, (first, second) = self.tensor(), [a.name for a in row.arguments[:2]]
        if second == "other":
            same = [v.name for v in self.pool if v.size == x.size] or [x.name]
            return {first: x.name, second: self.draw.choice(same)}
        return {first: x.name, second: self.draw.reshaped(x.size if self.draw.chance(0.95) else x.size + 1)}

    def spread(self, row) -> Texts:
        """expand and similar ops."""
        x, (first, second) = self.tensor(), [a.name for a in row.arguments[:2]]
        shape = self.draw.expanded(x.shape)
        if second == "other":
            return {first: x.name, second: self.draw.tensor(shape)}
        if self.draw.chance(0.2) and len(shape) == x.ndim:
            shape = tuple(-1 if self.draw.chance(0.5) else n for n in shape)
        return {first: x.name, second: repr(shape)}

    def parts(self, row) -> Texts:
        """split, chunk, unbind, narrow and select"""
        draw, x = self.draw, self.tensor()
        dim = draw.dim(x.ndim)
        size = x.shape[dim] if x.ndim and -x.ndim <= dim < x.ndim else 1
        start = draw.randint(0, size)
        given = {
            "split_size": repr(draw.split_size(size)) if row.overload else str(draw.randint(1, size + 1)),
            "chunks": str(draw.randint(1, 4)),
            "start": str(start),
            "length": str(draw.randint(0, size - start)),
            "index": str(draw.randint(-size, size - 1) if size else 0),
            "dim": str(dim),
        }
        names = [a.name for a in row.arguments[1:]]
        return {"self": x.name} | {
            name: given[name] for name in names if name != "dim" or draw.chance(0.8) or row.base in ("narrow", "select")
        }


def broadcasts(one, other):
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(one), reversed(other)))


def text_of_dim(arguments: Arguments, value: Value) -> str:
    return str(arguments.draw.dim(value.ndim))


def text_of_dims(arguments: Arguments, value: Value) -> str:
    return text_of_dim(arguments, value) if arguments.draw.chance(0.5) else arguments.draw.dims(value.ndim)


RULES = {
    ("int", "dim"): text_of_dim,
    ("int", "dim0"): text_of_dim,
    ("int", "dim1"): text_of_dim,
    ("int", "start_dim"): text_of_dim,
    ("int", "end_dim"): text_of_dim,
    ("int[]", "dim"): text_of_dims,
    ("int[]", "dims"): lambda a, v: repr(tuple(a.draw.sample(range(v.ndim), v.ndim))),
    ("bool", "*"): lambda a, v: repr(a.draw.chance(0.5)),
    ("dtype", "*"): lambda a, v: f"lib.{a.draw.dtype()}",
    ("Scalar", "correction"): lambda a, v: a.draw.choice(["0", "1", "2", "0.5", "None", "40"]),
    ("Scalar", "*"): lambda a, v: a.draw.number(),
    ("str", "rounding_mode"): lambda a, v: a.draw.choice(["'floor'", "'trunc'", "None", "'round'"]),
    ("str", "reduction"): lambda a, v: a.draw.choice(["'mean'", "'sum'", "'none'"]),
    ("str", "approximate"): lambda a, v: a.draw.choice(["'none'", "'tanh'"]),
}

TOGETHER = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "outer"), Arguments.matrices),
    **dict.fromkeys(("cat", "stack"), Arguments.joined),
    **dict.fromkeys(("gather", "scatter", "scatter_add", "index_select", "index_add"), Arguments.moved),
    **dict.fromkeys(("nll_loss", "cross_entropy"), Arguments.targets),
    **dict.fromkeys(("reshape", "view", "view_as", "reshape_as"), Arguments.reshaped),
    **dict.fromkeys(("expand", "broadcast_to", "expand_as"), Arguments.spread),
    **dict.fromkeys(("split", "chunk", "unbind", "narrow", "select"), Arguments.parts),
    "linear": Arguments.linear,
    "index_put": Arguments.put,
    "as_strided": Arguments.strided,
    "where": Arguments.choice_of_two,
}
