"""Call functions of a library that vcattn-compile made, from Python.

A tensor is passed as a pointer to MLIR's memref descriptor: two pointers (the
allocation, its aligned part), an offset in elements, sizes, strides. Anything
with a pointer, a shape and strides will do; here torch and NumPy arrays.
"""
import ctypes

import numpy as np

libc = ctypes.CDLL(None)


def describe(pointer, shape, strides):
    """The descriptor as an array of 64-bit words; strides in elements."""
    words = [pointer, pointer, 0, *shape, *strides]
    return (ctypes.c_int64 * len(words))(*words)


def describe_tensor(x):
    if hasattr(x, "data_ptr"):
        return describe(x.data_ptr(), x.shape, x.stride())
    return describe(x.ctypes.data, x.shape, [s // x.itemsize for s in x.strides])


class CallError(RuntimeError):
    pass


class GpuFunction:
    """NAME(inputs..., results..., workspace, workspace_size, stream) of a library for a GPU."""

    def __init__(self, library, name):
        self.name = name
        self.function = getattr(library, name)
        self.function.restype = ctypes.c_int32
        self.get_workspace_size = getattr(library, f"{name}_workspace_size")
        self.get_workspace_size.restype = ctypes.c_int64
        self.last_error = library.vcattn_last_error
        self.last_error.restype = ctypes.c_char_p

    def workspace_size(self, tensors):
        return self.get_workspace_size(*[ctypes.byref(describe_tensor(x)) for x in tensors])

    def bind(self, tensors, workspace, size, stream):
        """A call without arguments; descriptors are made once."""
        keep = [describe_tensor(x) for x in tensors]
        arguments = [ctypes.byref(x) for x in keep]
        arguments += [ctypes.c_void_p(workspace), ctypes.c_size_t(size), ctypes.c_void_p(stream)]

        def call(keep=(keep, tensors)):
            if self.function(*arguments):
                raise CallError(f"{self.name}: {self.last_error().decode()}")

        return call


class CpuFunction:
    """_mlir_ciface_NAME of a library for the CPU.

    If shapes are not fixed it makes its results: call it with the inputs. If
    they are, it fills them: call `fill` with inputs and results.
    """

    def __init__(self, library, name):
        self.function = getattr(library, f"_mlir_ciface_{name}")
        self.function.restype = None

    def fill(self, *tensors):
        keep = [describe_tensor(x) for x in tensors]
        self.function(*[ctypes.byref(x) for x in keep])

    def __call__(self, inputs, results):
        """NumPy arrays of the given (shape, element type) each."""
        sizes = [len(describe(0, shape, shape)) for shape, _ in results]
        made = (ctypes.c_int64 * sum(sizes))()
        keep = [describe_tensor(x) for x in inputs]
        self.function(ctypes.byref(made), *[ctypes.byref(x) for x in keep])
        arrays, first = [], 0
        for (shape, kind), size in zip(results, sizes):
            allocated, data, offset, *rest = made[first : first + size]
            first += size
            assert tuple(rest[: len(shape)]) == tuple(shape), (rest, shape)
            assert offset == 0
            array = np.empty(shape, kind)
            ctypes.memmove(array.ctypes.data, data, array.nbytes)
            libc.free(ctypes.c_void_p(allocated))
            arrays.append(array)
        return arrays
