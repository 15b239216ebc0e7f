"""What has a gradient of what, from one end of a loop to the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Places = frozenset[int]

MOST = 4096  # steps until the parts of a state have gone round


class Reached(tuple[Places, ...]):
    """For each result of a loop the operands that it has a gradient for, as `links` of the loop's node."""


class Links:
    """Of each result of one step the operands that it has a gradient for.

    Parameters
    ----------
    reached : sequence of frozenset of int
        Places among the operands: those of the state come first.
    n_state : int
    """

    def __init__(self, reached: Sequence[Places], n_state: int) -> None:
        self.of_state, self.of_results, self.n_state = tuple(reached[:n_state]), tuple(reached[n_state:]), n_state

    def after(self, n: int, n_extra: int, keeps: bool) -> Reached | None:
        """The same of what a loop of `n` steps gives; None where it takes too long to find out.

        That is the last state, stacked results, `n_extra` outputs that have no gradient, and the states before each
        step if it `keeps` them.

        Steps hand parts of the state on, and may exchange them: what the last state has come from is the same again
        after some steps, and so on from there.
        """
        now: tuple[Places, ...] = tuple([frozenset([part]) for part in range(self.n_state)])
        results: list[Places] = [frozenset() for _ in self.of_results]
        kept: list[Places] = [frozenset() for _ in now]
        seen: dict[tuple[Places, ...], int] = {}
        for done in range(n):
            if now in seen:
                period = done - seen[now]
                now = list(seen)[seen[now] + (n - done) % period]
                break
            if done == MOST:
                return None
            seen[now] = done
            results = [one | self._behind(step, now) for one, step in zip(results, self.of_results)]
            kept = [one | other for one, other in zip(kept, now)]
            now = tuple([self._behind(step, now) for step in self.of_state])
        return Reached([*now, *results, *[frozenset()] * n_extra, *(kept if keeps else ())])

    def _behind(self, step: Iterable[int], state: Sequence[Places]) -> Places:
        """What is reached through a step, of a state with what it has come from."""
        found: set[int] = set()
        for place in step:
            found.update(state[place] if place < self.n_state else [place])
        return frozenset(found)
