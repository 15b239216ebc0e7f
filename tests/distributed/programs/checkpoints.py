"""Saves the state of a training, or goes on with it and compares: checkpoints.py save|load FOLDER."""

import sys

from training import INPUTS, LABELS, expect_same_parameters, network, train

import gradsmith as gs

dist = gs.distributed
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()
OWN = INPUTS[RANK::SIZE], LABELS[RANK::SIZE]
what, folder = sys.argv[1:]

model = network()
optimizer = dist.optim.DistributedOptimizer(model.parameters(), gs.optim.Adam, lr=1e-2)
if what == "save":
    train(model, optimizer, 3, *OWN)
    dist.checkpoint.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, folder)
else:
    train(model, optimizer, 1, *OWN)  # so that there are states to read into
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 0}
    dist.checkpoint.load(state, folder)
    assert state["epoch"] == 3
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    train(model, optimizer, 2, *OWN)
    whole = network()
    train(whole, gs.optim.Adam(whole.parameters(), lr=1e-2), 5)
    expect_same_parameters(whole, model, 1e-12)
    for wrong, text in (({"epoch": gs.ones(1)}, "something else"), ({"missing": 1}, "there is no missing")):
        try:
            dist.checkpoint.load(wrong, folder)
        except RuntimeError as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)
print("done")
