"""Types of the table's schema language, for the declarations of helpers.

To Cython each is an object. The generator reads these names in formulas.pxd and numbers.pxd, takes each for the type
behind it, and checks calls in formulas against them (codegen/spec/helpers.py).
"""

ctypedef object Tensor  # Tensor
ctypedef object TensorOrScalar  # Tensor|Scalar
ctypedef object OptionalTensor  # Tensor?
ctypedef object TensorList  # Tensor[]
ctypedef object OptionalTensors  # Tensor?[]

ctypedef object Scalar  # Scalar
ctypedef object OptionalScalar  # Scalar?
ctypedef object Int  # int
ctypedef object OptionalInt  # int?
ctypedef object IntList  # int[]
ctypedef object OptionalIntList  # int[]?
ctypedef object Float  # float
ctypedef object OptionalFloat  # float?
ctypedef object Bool  # bool
ctypedef object OptionalBool  # bool?

ctypedef object Str  # str
ctypedef object OptionalStr  # str?
ctypedef object DType  # dtype
ctypedef object OptionalDType  # dtype?
ctypedef object Device  # device
