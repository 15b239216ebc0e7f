cpdef object mse_loss_of(object a, object target, str reduction)
cpdef object nll_loss_of(object x, object target, object weight, Py_ssize_t ignore_index, str reduction)
cpdef object nll_loss_backward_of(
    object grad, object target, object weight, object shape, Py_ssize_t ignore_index, str reduction)
cpdef tuple class_losses_of(object x, object target, Py_ssize_t ignore_index)
cpdef object class_losses_backward_of(object grad, object x, object target, object log_sum, Py_ssize_t ignore_index)
cpdef object target_size_error(str op, tuple shape, tuple found)
cpdef object target_dtype_error(object dtype)
