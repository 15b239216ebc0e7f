"""The backward that runs now: for hooks and custom backwards that ask about it, or want something done at its end.

>>> import gradsmith as gs
>>> x = gs.ones(2, requires_grad=True)
>>> y = x * 2
>>> at_the_end = lambda: print("x.grad is", x.grad)
>>> handle = y.register_hook(lambda grad: gs.autograd.engine.queue_callback(at_the_end))
>>> y.sum().backward()
x.grad is tensor([2., 2.])
"""

from __future__ import annotations

from gradsmith.runtime.engine.introspection import (
    current_graph_task_execution_order,
    current_graph_task_id,
    current_node,
    is_checkpoint_valid,
    queue_callback,
    will_engine_execute_node,
)

__all__ = [
    "current_graph_task_execution_order",
    "current_graph_task_id",
    "current_node",
    "is_checkpoint_valid",
    "queue_callback",
    "will_engine_execute_node",
]
