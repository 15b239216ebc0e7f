"""Ops of a table without compiling it: values by NumPy, derivatives by the formulas' trees.

Each op is a custom Function whose forward evaluates the text of the entry and whose backward and jvp evaluate its
formulas, step by step, by gradsmith's ops. The proofs cannot tell it from the compiled op, which is tested.
"""

import inspect
import sys

import numpy as np

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.codegen.build.build import load_outside
from gradsmith.codegen.extension import library_table
from gradsmith.codegen.write.render import render_package
from gradsmith.verify.mutants.subjects import passed_on
from gradsmith.verify.samples import array_of
from gradsmith.verify.trees.evaluator import Surroundings
from gradsmith.verify.trees.models import Models
from gradsmith.verify.trees.situation import converted, variant_of

LOOPS = {"conj": np.conj, "where": np.where}  # what a loop calls by another name than NumPy, or in another way


class InMemory:
    """The ops of a table's text: their rows, and functions by name."""

    def __init__(self, text, file, functions=None):
        known = dict.fromkeys(functions or {}, "_functions")
        self.table = load_outside(text, file, "in_memory", library_table(), known)
        self.models = Models(self.table)
        scope = {}
        exec(render_package(self.table)["op_table.py"], scope)
        sys.modules.update({f"in_memory.{family}": self for family in self.table.families})
        self.rows = [row._replace(forms=("function",), batching="") for row in scope["OPS"]]
        for row in self.rows:
            setattr(self, row.base, op_of(row, self.models.of(row), functions or {}))


def op_of(row, model, functions):
    signature = inspect.Signature(
        [
            inspect.Parameter(
                a.name,
                inspect.Parameter.KEYWORD_ONLY if a.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if a.default is None else eval(a.default),
            )
            for a in row.arguments
        ]
    )

    def op(*positional, **keywords):
        bound = signature.bind(*positional, **keywords)
        bound.apply_defaults()
        return Call(model, dict(bound.arguments), functions).result()

    return op


class Call:
    """One call: which arguments are tensors, and what the formulas see of it."""

    def __init__(self, model, values, functions):
        self.model = model
        self.functions = functions
        arrays = {n: array_of(v) if isinstance(v, gs.Tensor) else v for n, v in values.items()}
        self.variant = variant_of(model.op, arrays)
        arguments = self.variant.signature.arguments
        self.values = {a.name: converted(a, values[a.name]) for a in arguments}
        self.tensors = [n for n, value in self.values.items() if isinstance(value, gs.Tensor)]
        self.lists = [n for n, value in self.values.items() if isinstance(value, list)]
        self.given = {n: [i for i, t in enumerate(self.values[n]) if t is not None] for n in self.lists}

    def result(self):
        self.meet_requirements()
        given = [self.values[n] for n in self.tensors] + [self.values[n][i] for n in self.lists for i in self.given[n]]
        if self.variant.forward.kind == "composite":
            return self.model.evaluator.value(self.variant.forward.formula.expr, Surroundings(self.values))
        return self.function().apply(*given)

    def meet_requirements(self):
        for requirement in self.variant.requirements:
            if not self.model.evaluator.value(requirement.condition.expr, Surroundings(self.values)):
                raise RuntimeError(f"{self.model.op.base}(): {requirement.message}")

    def with_tensors(self, given):
        """The arguments with tensors at their places."""
        rest = list(given)
        names = dict(self.values)
        for name in self.tensors:
            names[name] = rest.pop(0)
        for name in self.lists:
            names[name] = [None if t is None else rest.pop(0) for t in self.values[name]]
        return names

    def arrays(self, given):
        names = self.with_tensors(given)
        forward = self.variant.forward
        plain = {n: [t if t is None else array_of(t) for t in v] if n in self.lists else v for n, v in names.items()}
        plain = {n: array_of(v) if isinstance(v, gs.Tensor) else v for n, v in plain.items()}
        if forward.kind == "ufunc":
            return [getattr(np, forward.ufunc)(*plain.values())]
        found = eval(forward.text, {"np": np, **vars(np), **LOOPS, **self.functions}, plain)
        return list(found) if isinstance(found, (tuple, list)) else [found]

    def names(self, inputs, outputs):
        signature = self.variant.signature
        return {**self.with_tensors(inputs), **dict(zip(signature.output_names, outputs))}

    def gradients(self, inputs, outputs, grads, needed=None):
        """Of all inputs, in the order of `apply`; None for those without a formula, or that nobody wants."""
        names = self.names(inputs, outputs)
        found = {}
        order = [*self.tensors, *(n for n in self.lists for _ in self.given[n])]
        wanted = frozenset(n for i, n in enumerate(order) if needed is None or needed[i])
        rules = self.variant.backward.gradients if self.variant.backward else ()
        for rule in (rule for rule in rules if wanted & set(rule.inputs)):
            around = Surroundings(names, grads, outputs, wanted=wanted)
            value = self.model.evaluator.value(rule.formula.expr, around)
            found.update(zip(rule.inputs, value if rule.is_joint else [value]))
        parts = [(found.get(n), names[n]) for n in self.tensors]
        parts += [(found[n][i] if n in found else None, names[n][i]) for n in self.lists for i in self.given[n]]
        return [None if part is None else passed_on(part, like) for part, like in parts]

    def tangents(self, inputs, outputs, given):
        tangents = self.variant.tangents
        if tangents.rule == "transposed":
            return self.transposed(inputs, outputs, given)
        names = self.names(inputs, outputs)
        names |= {f"{n}_t": t for n, t in zip(self.tensors, given)}
        results = []
        for tangent in tangents.outputs:
            terms = [t.expr for t in tangent.terms if all(names[f"{n}_t"] is not None for n in t.reads)]
            parts = [self.model.evaluator.value(expr, Surroundings(names)) for expr in terms]
            like = outputs[tangent.output]
            total = sum(parts[1:], parts[0]) if parts else gs.zeros_like(like)
            results.append(total.expand(like.shape).to(like.dtype))
        return results

    def transposed(self, inputs, outputs, given):
        """The gradients are linear in those of the results: their own gradients are the tangents."""
        with gs.enable_grad():
            grads = [gs.zeros_like(out.detach()).requires_grad_() for out in outputs]
            found = self.gradients(inputs, outputs, grads)
            pairs = [(f, t) for f, t in zip(found, given) if f is not None and t is not None and f.requires_grad]
            if not pairs:
                return [gs.zeros_like(g) for g in grads]
            firsts, given = [f for f, _ in pairs], [t for _, t in pairs]
            return list(grad(firsts, grads, given, create_graph=True, materialize_grads=True))

    def function(self):
        call = self

        class InMemoryOp(Function):
            @staticmethod
            def forward(ctx, *given):
                outputs = [gs.from_numpy(np.asarray(array)) for array in call.arrays(given)]
                ctx.save_for_backward(*given, *outputs)
                ctx.save_for_forward(*given, *outputs)
                ctx.set_materialize_grads(False)
                ctx.count = len(given)
                return outputs[0] if len(outputs) == 1 else tuple(outputs)

            @staticmethod
            def backward(ctx, *grads):
                saved = ctx.saved_tensors
                return tuple(call.gradients(saved[: ctx.count], saved[ctx.count :], list(grads), ctx.needs_input_grad))

            @staticmethod
            def jvp(ctx, *given):
                saved = ctx.saved_tensors
                found = call.tangents(saved[: ctx.count], saved[ctx.count :], given)
                return found[0] if len(found) == 1 else tuple(found)

        return InMemoryOp
