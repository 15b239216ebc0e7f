cpdef object conv_output_of(
    object a, object weight, object bias, object stride, object padding, object dilation, Py_ssize_t groups,
    object size)
cpdef object conv_image_of(
    object a, object weight, object stride, object padding, object dilation, Py_ssize_t groups, object size)
cpdef object conv_weight_of(
    object a, object image, object stride, object padding, object dilation, Py_ssize_t groups, object size)
