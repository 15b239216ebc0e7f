"""Ray's cluster: the one that the program is connected to, or workers of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.parallel.chunks import Sent, run_chunk, sent_task, unpacked
from gradsmith.parallel.crews.executors import of_chunk
from gradsmith.parallel.errors import Failure
from gradsmith.parallel.tasks import Function, Lost, Outcome, Task
from gradsmith.utils.optional import required

__all__ = ["Ray"]


class Ray:
    """Each chunk is a task of Ray's on one core. Those that Ray reports as lost are tried again by the engine."""

    def __init__(self, workers: int | None) -> None:
        self.ray: Any = required("ray", "backend='ray'", "ray")
        self.is_own = not self.ray.is_initialized()
        if self.is_own:
            self.ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=True)
        self.size = workers or max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        self.run = self.ray.remote(num_cpus=1, max_retries=0)(run_chunk)
        self.running: dict[Any, Sequence[Task]] = {}

    def prepared(self, function: Function) -> Sent:
        return Sent.of(function, threads=1)

    def begin(self, prepared: Sent, total: int | None) -> None:
        self.name, self.function = prepared.name, self.ray.put(prepared.function)

    def has_room(self) -> bool:
        return len(self.running) < self.size

    def start(self, tasks: Sequence[Task]) -> None:
        sent = [sent_task(task) for task in tasks]
        self.running[self.run.remote(self.name, self.function, sent)] = tasks

    def wait(self, seconds: float | None) -> list[Outcome | Lost]:
        ready, _ = self.ray.wait(list(self.running), num_returns=1, timeout=seconds)
        return [event for reference in ready for event in self._events_of(reference)]

    def _events_of(self, reference: Any) -> list[Outcome | Lost]:
        tasks = self.running.pop(reference)
        try:
            return [unpacked(one) for one in self.ray.get(reference)]
        except self.ray.exceptions.RayTaskError as error:  # it cannot even begin: gradsmith is not there, for example
            return [Outcome(task.number, failure=Failure(error)) for task in tasks]
        except self.ray.exceptions.RayError as error:
            return [Lost(tasks, f"{type(error).__name__}: {error}{of_chunk(tasks)}")]

    def finish(self) -> None:
        for reference in self.running:
            self.ray.cancel(reference, force=True)
        self.running.clear()

    def close(self) -> None:
        self.finish()
        if self.is_own:
            self.ray.shutdown()
