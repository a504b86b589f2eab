"""New arrays, and bits that are bfloat16."""

from __future__ import annotations

from typing import Any, Tuple, Union

from . import _native
from .errors import InputError

_NUMPY_TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "s8": "i1", "s32": "i4"}

# What many kernels ask of their operands; NumPy's own arrays begin at multiples of 16.
_ALIGNMENT = 64


class _Bfloat16Type:
    name = "bfloat16"


class Bfloat16Bits:
    """An array of uint16 whose bits are bfloat16 numbers: NumPy has no such type of its own."""

    dtype = _Bfloat16Type()

    def __init__(self, bits: Any):
        if str(getattr(bits, "dtype", "")) != "uint16":
            raise InputError("as_bfloat16: an array of uint16 is needed, each element one number")
        self.bits = bits

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.bits.shape

    def view(self, _: str) -> Any:
        return self.bits

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.bits.__dlpack_device__()

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("NumPy exports no bfloat16")


def as_bfloat16(bits: Any) -> Bfloat16Bits:
    """Names an array of uint16 for what it holds; without a copy, to be given as a, b or out."""
    return Bfloat16Bits(bits)


def empty(shape: Union[int, Tuple[int, ...]], dtype: Any = "f4") -> Any:
    """As numpy.empty, row-major, but beginning at a multiple of 64 bytes: no kernel refuses it."""
    import numpy

    wanted = numpy.dtype(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    count = 1
    for size in sizes:
        count *= size
    memory = numpy.empty(count * wanted.itemsize + _ALIGNMENT, dtype="u1")
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + count * wanted.itemsize].view(wanted).reshape(sizes)


def new_output(a: Any, b: Any, gate: str = "") -> Any:
    """A NumPy array for the product of a and b; bfloat16 takes the package ml_dtypes. gate: a step
    of the epilogue that halves its columns."""
    if not hasattr(a, "shape") or not hasattr(b, "shape"):
        raise TypeError("out: give one where a or b is no array with a shape")
    problem = _native.problem_of_arrays(a, b, None, {"epilogue": gate})
    shape, dtype = problem.shapes["out"], problem.dtypes["out"]
    if len(a.shape) < 3 and len(b.shape) < 3:
        shape = shape[1:]
    if dtype in _NUMPY_TYPES:
        return empty(shape, _NUMPY_TYPES[dtype])
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise InputError(
            "out: NumPy has no bfloat16; install ml_dtypes, or give out=as_bfloat16(uint16 array)"
        ) from None
    return empty(shape, bfloat16)
