cpdef object mse_loss_of(object a, object target, str reduction)
cpdef object nll_loss_of(object x, object target, object weight, Py_ssize_t ignore_index, str reduction)
cpdef object nll_loss_backward_of(
    object grad, object target, object weight, object shape, Py_ssize_t ignore_index, str reduction)
