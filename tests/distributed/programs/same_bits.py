"""Prints a digest of the parameters after some steps."""

import hashlib

from training import INPUTS, LABELS, network, train

import gradsmith as gs

dist = gs.distributed
dist.init_process_group(timeout=60)
model = gs.nn.parallel.DistributedDataParallel(network().float(), bucket_cap_mb=0.0003)
rank, size = dist.get_rank(), dist.get_world_size()
train(model, gs.optim.Adam(model.parameters(), lr=1e-2), 20, INPUTS[rank::size].float(), LABELS[rank::size])
digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
for turn in range(size):
    dist.barrier()
    if turn == rank:
        print(digest, flush=True)
