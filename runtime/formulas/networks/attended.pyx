"""The weights of attention written out, for derivatives of its gradient."""


cpdef object attention_weights(object query, object key, object mask, object log_sum, object scale, object causal):
    """(*, queries, keys): exponentials of scaled products less the logarithm of their sum; zero where nothing is seen."""
    scores = (query * scale).matmul(key.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -float("inf")) if mask.dtype == bool else scores + mask
    if causal:
        later = scores.detach().new_ones(scores.shape[scores.ndim - 2:]).triu(1).bool()
        scores = scores.masked_fill(later, -float("inf"))
    return (scores - log_sum.unsqueeze(-1)).exp()
