"""References of recurrent layers: sequence by sequence, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def rows_of(sizes: Any, reverse: bool) -> Iterator[tuple[int, list[int]]]:
    """Each sequence with its rows, in the order in which they are gone over."""
    starts = np.cumsum([0, *sizes])
    for i in range(sizes[0]):
        rows = [int(start) + i for start, n in zip(starts, sizes) if i < n]
        yield i, rows[::-1] if reverse else rows


def in_slices(work: Callable[..., Any], own: list[int], operands: list[Any], *settings: Any) -> Any:
    """The work for each place of the dimensions before the operands' own, of which there are `own` many."""
    loops = np.broadcast_shapes(*(a.shape[: a.ndim - k] for a, k in zip(operands, own) if a is not None))
    spread = [
        None if a is None else np.broadcast_to(a, (*loops, *a.shape[a.ndim - k :])) for a, k in zip(operands, own)
    ]
    found = [work(*(None if a is None else a[place] for a in spread), *settings) for place in np.ndindex(*loops)]
    stacked = [np.reshape(np.stack(parts), (*loops, *parts[0].shape)) for parts in zip(*found)]
    return tuple(stacked) if len(stacked) > 1 else stacked[0]


def nothing_or(a: Any, shape: tuple[int, ...], dtype: Any) -> Array:
    return np.zeros(shape, dtype) if a is None else a


# ---- LSTM


def lstm_steps(
    a: Array, weight: Array, projection: Any, initial: Array, initial_cells: Array, sizes: Any, reverse: bool
) -> Any:
    return in_slices(lstm_of_slice, [2] * 5, [a, weight, projection, initial, initial_cells], sizes, reverse)


def lstm_of_slice(
    a: Array, weight: Array, projection: Any, initial: Array, initial_cells: Array, sizes: Any, reverse: bool
) -> Any:
    n, hidden = len(a), a.shape[1] // 4
    output, gates, cells = (np.zeros((n, width), a.dtype) for width in (weight.shape[1], 4 * hidden, hidden))
    for i, rows in rows_of(sizes, reverse):
        h, c = initial[i], initial_cells[i]
        for row in rows:
            z = a[row] + weight @ h
            inward, forget, new, out = np.split(z, 4)
            inward, forget, new, out = logistic(inward), logistic(forget), np.tanh(new), logistic(out)
            c = forget * c + inward * new
            h = out * np.tanh(c)
            h = h if projection is None else projection @ h
            output[row], gates[row], cells[row] = h, np.concatenate([inward, forget, new, out]), c
    return output, gates, cells


def lstm_pushforward(
    gates: Array, cells: Array, weight: Array, projection: Any, initial_cells: Array, from_output: Any,
    from_gates: Any, from_cells: Any, sizes: Any, reverse: bool,
) -> Any:  # fmt: skip
    operands = [gates, cells, weight, projection, initial_cells, from_output, from_gates, from_cells]
    return in_slices(lstm_pushed, [2] * 8, operands, sizes, reverse)


def lstm_pushed(
    gates: Array, cells: Array, weight: Array, projection: Any, initial_cells: Array, from_output: Any,
    from_gates: Any, from_cells: Any, sizes: Any, reverse: bool,
) -> Any:  # fmt: skip
    (n, hidden), size = cells.shape, weight.shape[1]
    from_output = nothing_or(from_output, (n, size), gates.dtype)
    from_gates = nothing_or(from_gates, (n, 4 * hidden), gates.dtype)
    from_cells = nothing_or(from_cells, (n, hidden), gates.dtype)
    to_gates, to_cells, to_output = (np.zeros_like(x) for x in (from_gates, from_cells, from_output))
    for i, rows in rows_of(sizes, reverse):
        h, c, before = None, np.zeros(hidden, gates.dtype), initial_cells[i]
        for row in rows:
            inward, forget, new, out = np.split(gates[row], 4)
            added = from_gates[row] if h is None else from_gates[row] + weight @ h
            t = np.split(added * lstm_slopes(gates[row]), 4)
            bounded = np.tanh(cells[row])
            c = from_cells[row] + forget * c + t[1] * before + t[0] * new + inward * t[2]
            h = t[3] * bounded + out * (1 - bounded**2) * c
            h = from_output[row] + (h if projection is None else projection @ h)
            to_gates[row], to_cells[row], to_output[row], before = np.concatenate(t), c, h, cells[row]
    return to_gates, to_cells, to_output


def lstm_slopes(gates: Array) -> Array:
    inward, forget, new, out = np.split(gates, 4)
    return np.concatenate([inward * (1 - inward), forget * (1 - forget), 1 - new**2, out * (1 - out)])


def lstm_pullback(
    gates: Array, cells: Array, weight: Array, projection: Any, initial_cells: Array, from_output: Any,
    from_gates: Any, from_cells: Any, sizes: Any, reverse: bool,
) -> Any:  # fmt: skip
    operands = [gates, cells, weight, projection, initial_cells, from_output, from_gates, from_cells]
    return in_slices(lstm_pulled, [2] * 8, operands, sizes, reverse)


def lstm_pulled(
    gates: Array, cells: Array, weight: Array, projection: Any, initial_cells: Array, from_output: Any,
    from_gates: Any, from_cells: Any, sizes: Any, reverse: bool,
) -> Any:  # fmt: skip
    (n, hidden), size = cells.shape, weight.shape[1]
    from_output = nothing_or(from_output, (n, size), gates.dtype)
    from_gates = nothing_or(from_gates, (n, 4 * hidden), gates.dtype)
    from_cells = nothing_or(from_cells, (n, hidden), gates.dtype)
    to_gates, to_cells, to_output = (np.zeros_like(x) for x in (from_gates, from_cells, from_output))
    for i, rows in rows_of(sizes, reverse):
        before = dict(zip(rows, [initial_cells[i], *(cells[row] for row in rows)]))
        later: int | None = None
        for row in reversed(rows):
            inward, _, new, out = np.split(gates[row], 4)
            dh, dc, bounded = from_output[row], from_cells[row], np.tanh(cells[row])
            if later is not None:
                dh = dh + to_gates[later] @ weight
                dc = dc + to_cells[later] * np.split(gates[later], 4)[1]
            raw = dh if projection is None else dh @ projection
            dc = dc + raw * out * (1 - bounded**2)
            of_values = from_gates[row] + np.concatenate([dc * new, dc * before[row], dc * inward, raw * bounded])
            to_gates[row], to_cells[row], to_output[row] = of_values * lstm_slopes(gates[row]), dc, dh
            later = row
    return to_gates, to_cells, to_output


def lstm_gates_bent(
    gates: Array, cells: Array, before: Array, products: Array, source: Any, more: Any, inward: Array,
    unprojected: Array, gate_tangents: Array, cell_tangents: Array, tangents_before: Array,
) -> Array:  # fmt: skip
    """Gate by gate; `dx` is the gradient of the value of gate x, `tx` the tangent of what goes into it."""
    i, f, g, o = np.split(gates, 4, -1)
    (ti, tf, tg, to), (di, df, dg, do) = (
        np.split(nothing_or(extra, gates.shape, gates.dtype), 4, -1) for extra in (source, more)
    )
    pi, pf, pg, po = np.split(products, 4, -1)
    sech_squared = 1 / np.cosh(cells) ** 2
    value_i, _, value_g, _ = np.split(gate_tangents, 4, -1)
    return np.concatenate([
        (di + inward * g) * (1 - 2 * i) * (ti + pi) + inward * value_g,
        (df + inward * before) * (1 - 2 * f) * (tf + pf) + inward * tangents_before,
        (dg + inward * i) * -2 * g * (tg + pg) + inward * value_i,
        (do + unprojected * np.tanh(cells)) * (1 - 2 * o) * (to + po) + unprojected * sech_squared * cell_tangents,
    ], -1)  # fmt: skip


def lstm_cells_bent(
    gates: Array, cells: Array, unprojected: Array, gate_tangents: Array, cell_tangents: Array
) -> Array:
    out, out_tangent = (np.split(x, 4, -1)[3] for x in (gates, gate_tangents))
    bent = -2 * np.tanh(cells) * cell_tangents
    return np.asarray(unprojected * (out_tangent + out * bent) / np.cosh(cells) ** 2)


def lstm_output_tangents(gates: Array, cells: Array, gate_tangents: Array, cell_tangents: Array) -> Array:
    out, out_tangent = (np.split(x, 4, -1)[3] for x in (gates, gate_tangents))
    return np.asarray(out_tangent * np.tanh(cells) + out * cell_tangents / np.cosh(cells) ** 2)


# ---- GRU


def gru_steps(a: Array, weight: Array, bias: Any, initial: Array, sizes: Any, reverse: bool) -> Any:
    return in_slices(gru_of_slice, [2, 2, 1, 2], [a, weight, bias, initial], sizes, reverse)


def gru_of_slice(a: Array, weight: Array, bias: Any, initial: Array, sizes: Any, reverse: bool) -> Any:
    n, hidden = len(a), weight.shape[1]
    output, gates = np.zeros((n, hidden), a.dtype), np.zeros((n, 4 * hidden), a.dtype)
    for i, rows in rows_of(sizes, reverse):
        h = initial[i]
        for row in rows:
            to_reset, to_update, kept = np.split(weight @ h, 3)
            kept = kept + (0 if bias is None else bias)
            x = np.split(a[row], 3)
            reset, update = logistic(x[0] + to_reset), logistic(x[1] + to_update)
            new = np.tanh(x[2] + reset * kept)
            h = (1 - update) * new + update * h
            output[row], gates[row] = h, np.concatenate([reset, update, new, kept])
    return output, gates


def gru_pushforward(
    gates: Array, output: Array, weight: Array, initial: Array, from_output: Any, from_gates: Any, sizes: Any,
    reverse: bool,
) -> Any:  # fmt: skip
    operands = [gates, output, weight, initial, from_output, from_gates]
    return in_slices(gru_pushed, [2] * 6, operands, sizes, reverse)


def gru_pushed(
    gates: Array, output: Array, weight: Array, initial: Array, from_output: Any, from_gates: Any, sizes: Any,
    reverse: bool,
) -> Any:  # fmt: skip
    n, hidden = output.shape
    from_output = nothing_or(from_output, (n, hidden), gates.dtype)
    from_gates = nothing_or(from_gates, (n, 4 * hidden), gates.dtype)
    to_gates, to_output = np.zeros_like(from_gates), np.zeros_like(from_output)
    for i, rows in rows_of(sizes, reverse):
        t, before = np.zeros(hidden, gates.dtype), initial[i]
        for row in rows:
            reset, update, new, kept = np.split(gates[row], 4)
            source, products = np.split(from_gates[row], 4), [np.zeros(hidden, gates.dtype)] * 3
            products = products if row == rows[0] else np.split(weight @ t, 3)
            t_reset = reset * (1 - reset) * (source[0] + products[0])
            t_update = update * (1 - update) * (source[1] + products[1])
            t_kept = source[3] + products[2]
            t_new = (1 - new**2) * (source[2] + t_reset * kept + reset * t_kept)
            t = from_output[row] + (1 - update) * t_new + update * t + t_update * (before - new)
            to_gates[row], to_output[row] = np.concatenate([t_reset, t_update, t_new, t_kept]), t
            before = output[row]
    return to_gates, to_output


def gru_pullback(
    gates: Array, output: Array, weight: Array, initial: Array, from_output: Any, from_gates: Any, sizes: Any,
    reverse: bool,
) -> Any:  # fmt: skip
    operands = [gates, output, weight, initial, from_output, from_gates]
    return in_slices(gru_pulled, [2] * 6, operands, sizes, reverse)


def gru_pulled(
    gates: Array, output: Array, weight: Array, initial: Array, from_output: Any, from_gates: Any, sizes: Any,
    reverse: bool,
) -> Any:  # fmt: skip
    n, hidden = output.shape
    from_output = nothing_or(from_output, (n, hidden), gates.dtype)
    from_gates = nothing_or(from_gates, (n, 4 * hidden), gates.dtype)
    to_gates, to_output = np.zeros_like(from_gates), np.zeros_like(from_output)
    for i, rows in rows_of(sizes, reverse):
        before = dict(zip(rows, [initial[i], *(output[row] for row in rows)]))
        later: int | None = None
        for row in reversed(rows):
            reset, update, new, kept = np.split(gates[row], 4)
            given, dh = np.split(from_gates[row], 4), from_output[row]
            if later is not None:
                d_reset, d_update, _, d_kept = np.split(to_gates[later], 4)
                dh = dh + np.concatenate([d_reset, d_update, d_kept]) @ weight
                dh = dh + to_output[later] * np.split(gates[later], 4)[1]
            d_new = (given[2] + dh * (1 - update)) * (1 - new**2)
            d_reset = (given[0] + d_new * kept) * reset * (1 - reset)
            d_update = (given[1] + dh * (before[row] - new)) * update * (1 - update)
            to_gates[row] = np.concatenate([d_reset, d_update, d_new, given[3] + d_new * reset])
            to_output[row], later = dh, row
    return to_gates, to_output


def gru_gates_bent(
    gates: Array, before: Array, products: Array, source: Any, more: Any, inward: Array, outward: Array,
    gate_tangents: Array, tangents_before: Array,
) -> Array:  # fmt: skip
    """As of an LSTM."""
    r, z, n, q = np.split(gates, 4, -1)
    value_r, value_z, value_n, value_q = np.split(gate_tangents, 4, -1)
    (tr, tz, tn), (dr, dz, dn) = (
        np.split(nothing_or(extra, products.shape, gates.dtype), 3, -1) for extra in (source, more)
    )
    pr, pz, _ = np.split(products, 3, -1)
    new = np.split(inward, 4, -1)[2]
    return np.concatenate([
        (dr + new * q) * (1 - 2 * r) * (tr + pr) + new * value_q,
        (dz + outward * (before - n)) * (1 - 2 * z) * (tz + pz) + outward * (tangents_before - value_n),
        (dn + outward * (1 - z)) * -2 * n * (tn + value_r * q + r * value_q) - outward * value_z,
        new * value_r,
    ], -1)  # fmt: skip


# ---- RNN


def rnn_steps(a: Array, weight: Array, initial: Array, relu: bool, sizes: Any, reverse: bool) -> Any:
    return in_slices(rnn_of_slice, [2] * 3, [a, weight, initial], relu, sizes, reverse)


def rnn_of_slice(a: Array, weight: Array, initial: Array, relu: bool, sizes: Any, reverse: bool) -> Any:
    output = np.zeros_like(a)
    for i, rows in rows_of(sizes, reverse):
        h = initial[i]
        for row in rows:
            z = a[row] + weight @ h
            h = output[row] = np.where(z.real < 0, 0, z) if relu else np.tanh(z)
    return (output,)


def rnn_pushforward(a: Array, output: Array, weight: Array, relu: bool, sizes: Any, reverse: bool) -> Any:
    return in_slices(rnn_pushed, [2] * 3, [a, output, weight], relu, sizes, reverse)


def rnn_pushed(a: Array, output: Array, weight: Array, relu: bool, sizes: Any, reverse: bool) -> Any:
    to_output = np.zeros_like(a)
    for _, rows in rows_of(sizes, reverse):
        for row, before in zip(rows, [None, *rows]):
            added = a[row] if before is None else a[row] + weight @ to_output[before]
            to_output[row] = times_slopes(added, output[row], relu)
    return (to_output,)


def times_slopes(a: Array, output: Array, relu: bool) -> Array:
    return np.where(output.real > 0, a, 0) if relu else a * (1 - output**2)


def rnn_pullback(a: Array, output: Array, weight: Array, relu: bool, sizes: Any, reverse: bool) -> Any:
    return in_slices(rnn_pulled, [2] * 3, [a, output, weight], relu, sizes, reverse)


def rnn_pulled(a: Array, output: Array, weight: Array, relu: bool, sizes: Any, reverse: bool) -> Any:
    to_gates = np.zeros_like(a)
    for _, rows in rows_of(sizes, reverse):
        for row, later in zip(reversed(rows), [None, *reversed(rows)]):
            dh = a[row] if later is None else a[row] + to_gates[later] @ weight
            to_gates[row] = times_slopes(dh, output[row], relu)
    return (to_gates,)


# ---- rows


def earlier_rows(a: Array, initial: Any, sizes: Any, reverse: bool) -> Any:
    return in_slices(earlier_of_slice, [2, 2], [a, initial], sizes, reverse)


def earlier_of_slice(a: Array, initial: Any, sizes: Any, reverse: bool) -> Any:
    result = np.zeros_like(a)
    for i, rows in rows_of(sizes, reverse):
        for row, before in zip(rows, [None, *rows]):
            result[row] = a[before] if before is not None else 0 if initial is None else initial[i]
    return (result,)


def first_rows(a: Array, sizes: Any, reverse: bool) -> Array:
    return np.stack([a[..., rows[0], :] for _, rows in rows_of(sizes, reverse)], -2)


DEFINITIONS = (
    lstm_steps, lstm_pullback, lstm_pushforward, lstm_gates_bent, lstm_cells_bent, lstm_output_tangents, gru_steps,
    gru_pullback, gru_pushforward, gru_gates_bent, rnn_steps, rnn_pullback, rnn_pushforward, earlier_rows, first_rows,
)  # fmt: skip
