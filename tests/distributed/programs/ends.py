"""Comes to its end with a group, a handle and a module that nobody has closed."""

import gradsmith as gs

dist = gs.distributed
dist.init_process_group(timeout=30)
group = dist.new_group()
model = gs.nn.parallel.DistributedDataParallel(gs.nn.Linear(2, 1), process_group=group)
model(gs.ones(2, 2)).sum().backward()
work = dist.all_reduce(gs.ones(3), async_op=True)
work.wait()
print("done")
