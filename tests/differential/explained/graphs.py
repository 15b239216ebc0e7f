"""Explanations that concern graphs: saved tensors, their checks, the nodes that run."""

from __future__ import annotations

import re

from ..compare import Difference
from ..program import STEP
from .again import finds_changed
from .explanation import Explanation
from .questions import called_before, made_of, only_pytorch_refuses, only_we_refuse


def found_unused_after_the_run(difference: Difference) -> bool:
    """PyTorch's `grad` has freed the graph before it reports an input that nothing reached."""
    graphs = [
        made_of(difference.history, step.uses())
        for step in difference.history
        if step.call == "lib.autograd.grad" and not {"allow_unused", "materialize_grads"} & set(step.kwargs)
    ]
    return any(difference.step.uses() & names for names in graphs) and only_pytorch_refuses(
        "backward through the graph a second time"
    )(difference)


def leads_nowhere(difference: Difference) -> bool:
    """A second backward through a graph above a view made in `no_grad`, of which PyTorch runs the nodes."""
    views = {step.gives for step in difference.history if step.mode and re.search("no_grad|inference", step.mode)}
    return bool(difference.step.uses() & made_of(difference.history, views)) and only_pytorch_refuses(
        "backward through the graph a second time"
    )(difference)


def negated_gradient(difference: Difference) -> bool:
    """The gradient given to a `grad` through `cos` was written; here its negative has been saved."""
    runs = [step for step in difference.history if "create_graph" in step.kwargs]
    given = {name for step in runs for name in STEP.findall(step.kwargs.get("gradient") or "".join(step.args[2:3]))}
    written = {name for s in difference.history if s.writes() for name in STEP.findall(s.args[0])}
    return (
        bool(given & written)
        and any(re.search(r"\.cos_?$", step.call) for step in difference.history)
        and only_pytorch_refuses("modified by an inplace operation")(difference)
    )


def changed_what_was_asked_for(difference: Difference) -> bool:
    """`grad` for a tensor that was written: its own gradient reads another one, which was not."""
    if not difference.step.call.endswith("autograd.grad"):
        return False
    asked = set(STEP.findall(difference.step.args[1]))
    written = {name for step in difference.history if step.writes() for name in STEP.findall(step.args[0])}
    found = re.search(r"(?:Tensor|Type) \[(.*?)\]\].* is at version (\d+)", str(difference.theirs))
    if not asked & written or found is None:
        return False
    shown = (found[1].replace(" ", ""), int(found[2]))  # the shape and version of one that was asked for
    alike = any((",".join(map(str, x.shape)), x.version) == shown for x in difference.operands)
    return alike and only_pytorch_refuses("modified by an inplace operation")(difference)


def converted_target(difference: Difference) -> bool:
    """A target of integers that `mse_loss` has converted, or one that `label_smoothing` has made probabilities of."""
    losses = [s for s in difference.history if "mse_loss" in s.call or "label_smoothing" in s.kwargs]
    targets = {name for s in losses for name in STEP.findall(s.kwargs.get("target") or "".join(s.args[1:2]))}
    twice = any("create_graph" in step.kwargs for step in difference.history)  # the second gradient does not read it
    return finds_changed(difference, targets, ".*" if twice else "Byte|Char|Short|Int|Long|Bool")


def changed_where_shapes_count(difference: Difference) -> bool:
    """What PyTorch's nodes of these ops have saved besides indices and masks, which are read here as well."""
    ops = ("masked_select", "gather", "sgn", "sign", "index_add", "pow", "**", "nextafter", "vander", "norm", "aminmax")
    steps = [step for step in difference.history if any(name in step.call for name in ops)]
    kept = {name for step in steps for name in (step.gives, *step.uses())}
    return finds_changed(difference, kept, "Half|(Complex)?(Float|Double)")


EXPLANATIONS = (
    Explanation(
        "unused inputs are found first",
        "An input that no path leads to is reported before anything runs.",
        ("errors.md", "**Refused means unchanged.**"),
        found_unused_after_the_run,
    ),
    Explanation(
        "what is not saved may be changed",
        "PyTorch keeps a tensor of which the gradient reads the shape alone, or nothing.",
        ("saved_values.md", "**Saved values have a cost, and the author decides.**"),
        lambda d: changed_where_shapes_count(d) or negated_gradient(d),
    ),
    Explanation(
        "what a gradient does not read may be changed",
        "PyTorch unpacks all that a node has saved, and saves a target before it is converted.",
        ("saved_values.md", "**Only what a gradient reads is checked.**"),
        lambda d: changed_what_was_asked_for(d) or converted_target(d),
    ),
    Explanation(
        "a number over a tensor",
        "PyTorch divides by multiplying with the reciprocal, and keeps that in the place of the tensor.",
        ("numbers.md", "**A number over a tensor keeps the tensor.**"),
        lambda d: (only_we_refuse("saved by DivBackward0")(d)
        or only_pytorch_refuses("backward through the graph a second time")(d))
        and any(step.call == "{0} / {1}" and not STEP.match(step.args[0]) for step in d.history),
    ),
    Explanation(
        "a class index that was changed",
        "PyTorch has saved a copy of class indices that do not lie by rows.",
        ("dtypes.md", "`nll_loss` saves the class indices themselves"),
        lambda d: only_we_refuse("saved by NllLossBackward0")(d) and called_before(d, "nll_loss", "cross_entropy"),
    ),
    Explanation(
        "detached after it was saved",
        "A custom Function of PyTorch gives the tensor back with its own node for a history.",
        ("saved_values.md", "**Detaching a saved tensor makes backward raise.**"),
        lambda d: only_we_refuse("trying to use a saved tensor that has been detached in-place")(d)
        and called_before(d, ".apply"),
    ),
    Explanation(
        "nothing below a view made in no_grad",
        "PyTorch runs the nodes above it, and finds what they saved gone.",
        ("engine_order.md", "**Nodes that lead to no leaf do not run.**"),
        leads_nowhere,
    ),
)  # fmt: skip
