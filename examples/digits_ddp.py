"""Train the digits network on several processes, each with a part of every batch.

    mpiexec -n 4 python examples/digits_ddp.py

Needs `pip install 'gradsmith[mpi]'`; without mpiexec it trains on one. Gradients are averaged over the ranks, so
their number changes nothing but rounding. The exit code is 0 when the accuracy on held-out digits is at least 96 %, and
all ranks have the same network.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import gradsmith as gs
import gradsmith.distributed as dist
import gradsmith.nn.functional as F
from gradsmith.nn.parallel import DistributedDataParallel
from gradsmith.utils.data import DataLoader, DistributedSampler, TensorDataset

DATA = Path(__file__).resolve().parent / "data" / "digits.csv.gz"
REQUIRED_ACCURACY = 0.96
HELD_OUT = 360
BATCH = 32  # of all ranks together


def load_digits() -> tuple[TensorDataset, TensorDataset]:
    """Digits to train on and digits held out."""
    table = np.loadtxt(DATA, delimiter=",", dtype=np.float32)
    table = table[np.random.default_rng(0).permutation(len(table))]
    images, labels = gs.from_numpy(table[:, :64] / 16), gs.from_numpy(table[:, 64].astype(np.int64))
    train = TensorDataset(images[HELD_OUT:], labels[HELD_OUT:])
    return train, TensorDataset(images[:HELD_OUT], labels[:HELD_OUT])


def network() -> gs.nn.Module:
    return gs.nn.Sequential(
        gs.nn.Linear(64, 128), gs.nn.Tanh(), gs.nn.Linear(128, 128), gs.nn.Tanh(), gs.nn.Linear(128, 10)
    )


def train(model: gs.nn.Module, data: TensorDataset, epochs: int) -> None:
    """Each rank takes its part of the digits, in another order in each epoch."""
    sampler = DistributedSampler(data)
    loader = DataLoader(data, max(1, BATCH // dist.get_world_size()), sampler=sampler)
    optimizer = gs.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(images), labels).backward()
            optimizer.step()


def accuracy(model: gs.nn.Module, data: TensorDataset) -> float:
    """Each rank tests some of the digits; the counts are added up."""
    images, labels = data.tensors
    own = slice(dist.get_rank(), None, dist.get_world_size())
    with gs.no_grad():
        right = (model(images[own]).argmax(1) == labels[own]).sum()
    dist.all_reduce(right)
    return right.item() / len(labels)


def is_the_same_everywhere(model: gs.nn.Module) -> bool:
    """Whether all ranks have the bits of the first one."""
    same = gs.tensor(1)
    for parameter in model.parameters():
        first = parameter.detach().clone()
        dist.broadcast(first, 0)
        same = same & int(gs.equal(first, parameter.detach()))
    dist.all_reduce(same, dist.ReduceOp.MIN)
    return bool(same)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=12)
    epochs = parser.parse_args().epochs
    dist.init_process_group()
    gs.manual_seed(0)
    training, held_out = load_digits()
    model = DistributedDataParallel(network())
    train(model, training, epochs)
    found, same = accuracy(model, held_out), is_the_same_everywhere(model)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks: {found:.1%} of the digits held out are recognized")
        print("all ranks have the same network" if same else "the ranks' networks differ")
    dist.destroy_process_group()
    return 0 if found >= REQUIRED_ACCURACY and same else 1


if __name__ == "__main__":
    raise SystemExit(main())
