"""The types of the arrays that kernels read and write, for annotations.

They say nothing of the number of dimensions: a docstring or a comment gives the shape of an array.
"""

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]
