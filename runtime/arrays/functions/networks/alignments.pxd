cpdef object ctc_losses_of(object a, object labels, object label_counts, object step_counts, Py_ssize_t blank)
cpdef object ctc_slopes_of(
    object a, object scale, object labels, object label_counts, object step_counts, Py_ssize_t blank)
cpdef object ctc_curvature_of(
    object a, object direction, object scale, object labels, object label_counts, object step_counts, Py_ssize_t blank)
