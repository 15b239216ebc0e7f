cpdef tuple lstm_steps_of(
    object a, object weight, object projection, object initial_output, object initial_cells, object batch_sizes,
    bint reverse)
cpdef tuple lstm_pullback_of(
    object a, object cells, object weight, object projection, object initial_cells, object from_output,
    object from_gates, object from_cells, object batch_sizes, bint reverse)
cpdef tuple lstm_pushforward_of(
    object a, object cells, object weight, object projection, object initial_cells, object from_output,
    object from_gates, object from_cells, object batch_sizes, bint reverse)
cpdef tuple gru_steps_of(
    object a, object weight, object bias, object initial_output, object batch_sizes, bint reverse)
cpdef tuple gru_pullback_of(
    object a, object output, object weight, object initial_output, object from_output, object from_gates,
    object batch_sizes, bint reverse)
cpdef tuple gru_pushforward_of(
    object a, object output, object weight, object initial_output, object from_output, object from_gates,
    object batch_sizes, bint reverse)
cpdef object rnn_steps_of(
    object a, object weight, object initial_output, bint relu, object batch_sizes, bint reverse)
cpdef object rnn_pullback_of(object a, object output, object weight, bint relu, object batch_sizes, bint reverse)
cpdef object rnn_pushforward_of(object a, object output, object weight, bint relu, object batch_sizes, bint reverse)
cpdef object earlier_rows_of(object a, object initial, object batch_sizes, bint reverse)
cpdef object first_rows_of(object a, object batch_sizes, bint reverse)
