"""Train a recurrent network to write a text, character by character.

    python examples/characters.py

An LSTM reads the text and says at each character which one comes next. It learns a few sentences by heart, and then
writes them by itself. The exit code is 0 when the loss falls below 0.2 nats a character and what it writes is the text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import gradsmith as gs
import gradsmith.nn.functional as F

TEXT = (
    "a kettle sings before it boils, and a good hinge is quiet. the baker wakes while the moon is up; the miller wakes "
    "with the wind. seven ships left in spring, six came home with wool, and one brought a bell that nobody could "
    "lift. we hung it where it lay, dug the ground away beneath it, and now the harbour has a voice. "
)
ALPHABET = sorted(set(TEXT))
HIDDEN = 96
STEPS, BATCH = 40, 16
ROUNDS = 220
RATE = 0.01
REQUIRED_LOSS = 0.2
START = 24  # characters that are given, before the network writes on


class Network:
    """One layer of an LSTM over one-hot characters, and a linear layer that scores the next one."""

    def __init__(self) -> None:
        n = len(ALPHABET)
        shapes = ((4 * HIDDEN, n), (4 * HIDDEN, HIDDEN), (4 * HIDDEN,), (4 * HIDDEN,), (n, HIDDEN), (n,))
        self.parameters = [((gs.rand(*shape) * 2 - 1) * HIDDEN**-0.5).requires_grad_() for shape in shapes]

    def __call__(
        self, characters: gs.Tensor, state: tuple[gs.Tensor, gs.Tensor]
    ) -> tuple[gs.Tensor, tuple[gs.Tensor, gs.Tensor]]:
        """Scores for the next character at each step, (steps, batch, characters), and the state after the last."""
        *layer, weight, bias = self.parameters
        one_hot = F.one_hot(characters, len(ALPHABET)).to(gs.float32)
        output, *after = gs.lstm(one_hot, state, layer, True, 1, 0.0, True, False, False)
        return F.linear(output, weight, bias), tuple(after)

    def loss(self, characters: gs.Tensor) -> gs.Tensor:
        """Mean over all steps but the last, whose next character is not there."""
        scores, _ = self(characters[:-1], state_of(characters.shape[1]))
        return F.cross_entropy(scores.reshape(-1, len(ALPHABET)), characters[1:].reshape(-1))


class Adam:
    """Steps along the mean of gradients, divided by the root of that of their squares (Kingma and Ba, 2015)."""

    def __init__(self, parameters: list[gs.Tensor]) -> None:
        self.parameters = parameters
        self.means = [gs.zeros_like(p) for p in parameters]
        self.squares = [gs.zeros_like(p) for p in parameters]
        self.count = 0

    @gs.no_grad()
    def step(self, rate: float) -> None:
        self.count += 1
        for parameter, mean, square in zip(self.parameters, self.means, self.squares):
            gradient = parameter.grad
            mean.mul_(0.9).add_(gradient, alpha=0.1)
            square.mul_(0.99).add_(gradient * gradient, alpha=0.01)
            unbiased = mean / (1 - 0.9**self.count)
            parameter.sub_(rate * unbiased / ((square / (1 - 0.99**self.count)).sqrt() + 1e-8))
            parameter.grad = None


def state_of(batch: int) -> tuple[gs.Tensor, gs.Tensor]:
    """Output and cells before the first step."""
    return gs.zeros(1, batch, HIDDEN), gs.zeros(1, batch, HIDDEN)


def numbers_of(text: str) -> gs.Tensor:
    return gs.tensor([ALPHABET.index(character) for character in text])


def passages() -> gs.Tensor:
    """Random parts of the text, which begins again after its end: (steps + 1, batch)."""
    whole = numbers_of(TEXT)
    starts = gs.randint(0, len(TEXT), (BATCH,))
    return whole[(starts + gs.arange(STEPS + 1)[:, None]) % len(TEXT)]


def train(network: Network) -> Iterator[float]:
    """The loss of each round. The rate falls, so that the last rounds settle."""
    adam = Adam(network.parameters)
    for round in range(ROUNDS):
        loss = network.loss(passages())
        loss.backward()
        adam.step(RATE * (1 - round / ROUNDS))
        yield loss.item()


@gs.no_grad()
def written(network: Network, start: str, length: int) -> str:
    """The start, and what the network takes for most likely after it."""
    text, given, state = start, numbers_of(start), state_of(1)
    while len(text) < length:
        scores, state = network(given[:, None], state)
        given = scores[-1].argmax(-1)
        text += ALPHABET[int(given)]
    return text


def main() -> int:
    gs.manual_seed(0)
    network = Network()
    losses = []
    for loss in train(network):
        losses.append(loss)
        if len(losses) % 20 == 0:
            print(f"round {len(losses):3}   {sum(losses[-20:]) / 20:6.3f} nats a character")
    text = written(network, TEXT[:START], len(TEXT))
    print(f"\n{text}\n")
    final = sum(losses[-20:]) / 20
    is_learned = final < REQUIRED_LOSS and text == TEXT
    print(f"Loss {final:.3f}; {'the text is known by heart.' if is_learned else 'the text is NOT known by heart.'}")
    return 0 if is_learned else 1


if __name__ == "__main__":
    sys.exit(main())
