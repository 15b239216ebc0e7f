"""The rules of all elementwise optimizers over NumPy, written from their papers: one step of one parameter."""

import numpy as np

DECOUPLED = {"weight_decay": 0.1, "decoupled_weight_decay": True}
SETTINGS = {
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
        {"lr": 0.01, "maximize": True, "momentum": 0.3, "weight_decay": 0.2, "nesterov": True},
    ],
    "Adam": [
        {},
        {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3},
        {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1},
        {"weight_decay": 0.1, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "amsgrad": True},
    ],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.3}],
    "Adamax": [{}, {"lr": 0.1, "weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [{}, {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1}, DECOUPLED],
    "RAdam": [{}, {"lr": 0.1, "weight_decay": 0.1}, {"betas": (0.9, 0.8)}, DECOUPLED],
    "Adagrad": [{}, {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}, {"initial_accumulator_value": 1, "lr": 1}],
    "Adadelta": [{}, {"lr": 0.1, "rho": 0.5, "weight_decay": 0.1, "maximize": True}],
    "RMSprop": [
        {},
        {"momentum": 0.9},
        {"centered": True},
        {"centered": True, "momentum": 0.5, "weight_decay": 0.1, "alpha": 0.5, "maximize": True},
    ],
    "ASGD": [{}, {"lr": 0.1, "t0": 5}, {"lr": 0.001, "lambd": 0.1, "t0": 2.5, "weight_decay": 0.1, "maximize": True}],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.05, 0.15)}, {"maximize": True}],
}  # fmt: skip

CASES = [(name, settings) for name, several in SETTINGS.items() for settings in several]


class Rule:
    """A parameter and what its rule remembers; `step` takes a gradient."""

    def __init__(self, defaults, p):
        self.p, self.t, self.kept = p.copy(), 0, {}
        self.settings = defaults

    def __getattr__(self, name):
        return self.settings[name]

    def get(self, name, first=0.0):
        return self.kept.setdefault(name, np.full_like(self.p, first))

    def step(self, g):
        self.t += 1
        g = -g if self.maximize else g
        decay = self.settings.get("weight_decay", 0)
        if self.settings.get("decoupled_weight_decay"):
            self.p = self.p * (1 - self.lr * decay)
        else:
            g = g + decay * self.p
        getattr(self, self.settings["rule"])(g)

    def means(self, g):
        b1, b2 = self.betas
        m, v = b1 * self.get("m") + (1 - b1) * g, b2 * self.get("v") + (1 - b2) * g**2
        self.kept.update(m=m, v=v)
        return m, v, 1 - b1**self.t, 1 - b2**self.t

    def sgd(self, g):
        if self.momentum:
            first = "b" not in self.kept
            self.kept["b"] = g if first else self.momentum * self.kept["b"] + (1 - self.dampening) * g
            g = g + self.momentum * self.kept["b"] if self.nesterov else self.kept["b"]
        self.p = self.p - self.lr * g

    def adam(self, g):
        m, v, c1, c2 = self.means(g)
        if self.amsgrad:
            v = self.kept["top"] = np.maximum(self.get("top"), v)
        self.p = self.p - self.lr * (m / c1) / (np.sqrt(v / c2) + self.eps)

    def adamax(self, g):
        m, _, c1, _ = self.means(g)
        u = self.kept["u"] = np.maximum(self.betas[1] * self.get("u"), np.abs(g) + self.eps)
        self.p = self.p - self.lr / c1 * m / u

    def nadam(self, g):
        m, v, _, c2 = self.means(g)
        mu = [self.betas[0] * (1 - 0.5 * 0.96 ** (t * self.momentum_decay)) for t in (self.t, self.t + 1)]
        product = self.kept["product"] = np.float32(self.kept.get("product", np.float32(1))) * np.float32(mu[0])
        product = float(product)
        m_hat = mu[1] * m / (1 - product * mu[1]) + (1 - mu[0]) * g / (1 - product)
        self.p = self.p - self.lr * m_hat / (np.sqrt(v / c2) + self.eps)

    def radam(self, g):
        m, v, c1, c2 = self.means(g)
        limit = 2 / (1 - self.betas[1]) - 1
        length = limit - 2 * self.t * self.betas[1] ** self.t / c2
        change = self.lr * m / c1
        if length > 5:
            r = np.sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
            change = change * r * np.sqrt(c2) / (np.sqrt(v) + self.eps)
        self.p = self.p - change

    def adagrad(self, g):
        self.kept["sum"] = self.get("sum", self.initial_accumulator_value) + g**2
        rate = self.lr / (1 + (self.t - 1) * self.lr_decay)
        self.p = self.p - rate * g / (np.sqrt(self.kept["sum"]) + self.eps)

    def adadelta(self, g):
        v = self.kept["v"] = self.rho * self.get("v") + (1 - self.rho) * g**2
        delta = np.sqrt(self.get("d") + self.eps) / np.sqrt(v + self.eps) * g
        self.kept["d"] = self.rho * self.get("d") + (1 - self.rho) * delta**2
        self.p = self.p - self.lr * delta

    def rmsprop(self, g):
        v = self.kept["v"] = self.alpha * self.get("v") + (1 - self.alpha) * g**2
        if self.centered:
            self.kept["m"] = self.alpha * self.get("m") + (1 - self.alpha) * g
            v = v - self.kept["m"] ** 2
        change = g / (np.sqrt(v) + self.eps)
        if self.momentum:
            change = self.kept["b"] = self.momentum * self.get("b") + change
        self.p = self.p - self.lr * change

    def asgd(self, g):
        eta, mu = self.kept.get("eta", float(np.float32(self.lr))), self.kept.get("mu", 1.0)
        self.p = self.p * (1 - self.lambd * eta) - eta * g
        self.kept["ax"] = self.p if mu == 1 else self.get("ax") + mu * (self.p - self.get("ax"))
        self.kept["eta"] = float(np.float32(self.lr / (1 + self.lambd * self.lr * self.t) ** self.alpha))
        self.kept["mu"] = float(np.float32(1 / max(1, self.t - self.t0)))

    def rprop(self, g):
        sign = np.sign(g * self.get("prev"))
        step = self.get("step", self.lr) * np.where(sign > 0, self.etas[1], np.where(sign < 0, self.etas[0], 1))
        self.kept["step"] = np.clip(step, *self.step_sizes)
        self.kept["prev"] = np.where(sign < 0, 0, g)
        self.p = self.p - np.sign(self.kept["prev"]) * self.kept["step"]


def rule_of(optimizer, p):
    """The rule with the settings of an optimizer's first group."""
    name = type(optimizer).__name__.lower()
    group = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    return Rule({**group, "rule": "adam" if name == "adamw" else name}, p)
