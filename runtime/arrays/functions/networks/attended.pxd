cpdef tuple attention_of(object query, object key, object value, object mask, double scale, bint causal)
cpdef tuple attention_backward_of(
    object grad, object query, object key, object value, object mask, object logsumexp, object delta, double scale,
    bint causal)
