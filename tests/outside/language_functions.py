"""Array functions of language.yaml."""


def weighted_of(array, size, mask, weights, factors, names):
    three = 3 if names[:1] == ("three",) else 1
    return array * (size[0] * size[1] * factors[1] * (1 + mask[2]) * (1 if weights is None else weights[0]) * three)


def joined_of(parts, more):
    return sum(part for part in (*parts, *(more or ())) if part is not None)
