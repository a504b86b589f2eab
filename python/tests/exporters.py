"""DLPack exporters that NumPy is not: of any type, version, device and honesty."""

import ctypes

CPU = 1
SIGNED, UNSIGNED, FLOAT, BFLOAT = 0, 1, 2, 4
READ_ONLY = 1

_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class VersionedManaged(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


def capsule(name, address):
    """A capsule of any name around any address."""
    return _new(address, name, None)


class Exporter:
    """A NumPy array handed out as whatever its options say. Stays alive as long as its capsules'
    readers: tests keep it."""

    def __init__(self, array, code, bits, /, *, version=None, flags=0, name=None, **changes):
        self.array = array
        self.deleted = 0
        itemsize = array.itemsize
        count = array.ndim
        self.shape = (ctypes.c_int64 * max(count, 1))(*array.shape)
        self.strides = (ctypes.c_int64 * max(count, 1))(*(s // itemsize for s in array.strides))
        tensor = Tensor(
            array.ctypes.data, CPU, 0, count, code, bits, 1, self.shape, self.strides, 0
        )
        for field, value in changes.items():
            setattr(tensor, field, value)
        self.callback = Deleter(self._delete)
        if version is None:
            self.managed = Managed(tensor, None, self.callback)
            self.name = name or b"dltensor"
        else:
            self.managed = VersionedManaged(*version, None, self.callback, flags, tensor)
            self.name = name or b"dltensor_versioned"
        self.versioned = version is not None
        self.asked = []

    def _delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return (self.managed.tensor.device_type, 0)

    def __dlpack__(self, **options):
        self.asked.append(options)
        if "max_version" in options and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return capsule(self.name, ctypes.addressof(self.managed))


def bfloat16_bits(array):
    """float32 to the nearest bfloat16, as bits."""
    import numpy

    bits = numpy.ascontiguousarray(array, dtype="f4").view("u4").astype("u8")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("u2")


def of_bfloat16_bits(bits):
    import numpy

    return (bits.astype("u4") << 16).view("f4").astype(numpy.float64)
