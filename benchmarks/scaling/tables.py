"""Tables of what was measured and what follows from it, and the page that has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .model import Network, Prediction

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance" / "scaling.md"
RANKS = (8, 64, 512)

Table = list[str]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """The first column has names, the others numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def of_messages(sizes: Sequence[int], times: Sequence[float], network: Network, ranks: int) -> Table:
    rows = [
        [f"{size:,} bytes", micro(time), micro(network.ring(size, ranks)), f"{network.ring(size, ranks) / time:.2f}"]
        for size, time in zip(sizes, times)
    ]
    return table(["all_reduce of", "measured", "model", "model over measured"], rows)


def of_steps(found: Prediction, processor: str, ranks: int) -> Table:
    step = found.step
    rows = [
        ["processor", processor],
        ["ranks", str(ranks)],
        ["step of one rank alone, T₁", milli(step.alone)],
        ["step of all at once without communication, Tₛ", milli(step.silent)],
        ["step with `DistributedDataParallel`, T", milli(step.parallel)],
        ["throughput over one rank's", f"{ranks * step.alone / step.parallel:.2f}"],
        ["bytes of gradients", f"{sum(step.buckets):,}"],
        ["messages", str(len(step.buckets))],
        ["part of the communication that is hidden, o", f"{found.overlap:.2f}"],
        ["the rest, r", milli(found.rest)],
    ]
    return table(["of a step", "measured"], rows)


def of_networks(networks: Sequence[Network], measured: Network) -> Table:
    rows = [
        [one.name, "measured" if one is measured else "assumed", micro(one.latency), f"{one.bandwidth / 1e9:.2f} GB/s"]
        for one in networks
    ]
    return table(["network", "how it is known", "latency, α", "bandwidth, β"], rows)


def of_predictions(found: Prediction, networks: Sequence[Network]) -> Table:
    rows = [_prediction(found, network, ranks) for network in networks for ranks in RANKS]
    head = ["network", "ranks", "communication in a ring", "step", "speed-up", "efficiency", "the same by halving"]
    return table(head, rows)


def _prediction(found: Prediction, network: Network, ranks: int) -> list[str]:
    communication = found.step.communication(network, ranks)
    efficiency = found.efficiency(communication)
    halving = found.efficiency(found.step.by_halving(network, ranks))
    return [
        network.name, str(ranks), milli(communication), milli(found.time(communication)),
        f"{ranks * efficiency:.1f}", f"{100 * efficiency:.0f} %", f"{100 * halving:.0f} %",
    ]  # fmt: skip


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs"


def milli(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def refreshed(text: str, tables: Sequence[Table]) -> str:
    """The page with these tables, each in place of the one with the same head."""
    by_head = {one[0]: one for one in tables}
    lines: list[str] = []
    is_replaced = False
    for line in text.splitlines():
        if line in by_head:
            lines += by_head[line]
            is_replaced = True
        elif not (is_replaced and line.startswith("|")):
            lines.append(line)
            is_replaced = False
    return "\n".join(lines) + "\n"
