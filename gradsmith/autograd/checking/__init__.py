"""How derivatives are compared with numerical ones; `gradsmith.autograd.gradcheck` is the door to it."""
