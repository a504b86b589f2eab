"""What must end as an exception, and never as a crash or a wrong number."""

import ctypes
import gc
import unittest

import numpy as np

import assay
from exporters import BFLOAT, FLOAT, READ_ONLY, SIGNED, Exporter, capsule

A, B = (4, 32), (32, 16)


class Hostile(unittest.TestCase):
    def setUp(self):
        self.a, self.b = np.ones(A, "f4"), np.ones(B, "f4")
        self.out = np.zeros((4, 16), "f4")
        self.kernel = assay.get_kernels((self.a, self.b, self.out))[0]

    def refuse(self, kind, words, a=None, b=None, out=None, **options):
        """The plan is refused with these words, and out is as it was."""
        arrays = [
            self.a if a is None else a,
            self.b if b is None else b,
            self.out if out is None else out,
        ]
        with self.assertRaisesRegex(kind, words):
            self.kernel.plan(*arrays, **options)
        self.assertFalse(self.out.any())

    def test_wrong_types(self):
        self.refuse(assay.Unsupported, "f64|s32|type", b=np.ones(B, "f8"))
        self.refuse(assay.Unsupported, "s64", a=np.ones(A, "i8"))
        self.refuse(assay.Unsupported, "has no counterpart", a=np.ones(A, "u2"))
        self.refuse(assay.Error, "a: ", a=np.ones(A, "c8"))
        self.refuse(assay.Error, "a: ", a=np.ones(A, ">f4"))
        self.refuse(assay.Error, "a: ", a=np.full(A, "x", object))
        self.refuse(assay.Error, "a: ", a=np.full(A, "x", "U4"))
        self.refuse(assay.Error, "a: ", a=np.ones(A, [("x", "f4")]))
        self.refuse(assay.Error, "a: ", a=np.ones(A, bool))
        self.refuse(assay.Error, "out", out=np.ones((4, 16), "i4"))
        self.refuse(assay.InputError, "f33", accumulate="f33")
        self.refuse(assay.InputError, "accumulate", accumulate="s32")

    def test_what_is_no_array(self):
        for thing in (None, 3, "abc", [[1.0, 2.0]], object(), b"bytes", self.kernel):
            self.refuse(TypeError, "a: .* is no array", a=thing if thing is not None else NotGiven())
        with self.assertRaises(TypeError):
            self.kernel.plan(self.a, self.b)
        with self.assertRaisesRegex(TypeError, "out"):
            self.kernel.plan(self.a, self.b, None)

    def test_wrong_shapes(self):
        self.refuse(assay.InputError, "b: a has k = 32 but b has 31", b=np.ones((31, 16), "f4"))
        self.refuse(assay.InputError, "out: a has m = 4 but out has 5", out=np.ones((5, 16), "f4"))
        self.refuse(assay.InputError, "out: b has n", out=np.ones((4, 17), "f4"))
        self.refuse(assay.InputError, "rank 1", a=np.ones(32, "f4"))
        self.refuse(assay.InputError, "rank 0", a=np.ones((), "f4"))
        self.refuse(assay.InputError, "rank 4", a=np.ones((1, 1, 4, 32), "f4"))
        self.refuse(assay.Error, "rank|32", a=np.ones((1,) * 32, "f4"))
        self.refuse(assay.InputError, "has l", a=np.ones((2, *A), "f4"))
        with self.assertRaisesRegex(assay.InputError, "rank 1"):
            self.kernel.run(np.ones(32, "f4"), self.b)

    def test_empty_arrays(self):
        for shape in ((0, 32), (4, 0), (0, 0)):
            self.refuse(assay.InputError, "size 0", a=np.ones(shape, "f4"))
        self.refuse(assay.InputError, "size 0", b=np.ones((32, 0), "f4"))
        with self.assertRaisesRegex(assay.InputError, "size 0"):
            self.kernel.run(np.ones((0, 32), "f4"), self.b)

    def test_strides_that_no_gemm_has(self):
        self.refuse(assay.InputError, "stride", a=np.ones(A, "f4")[::-1])
        self.refuse(assay.InputError, "stride", a=np.ones(A, "f4")[:, ::-1])
        self.refuse(assay.InputError, "stride", a=np.broadcast_to(np.ones(32, "f4"), A))
        window = np.lib.stride_tricks.as_strided(np.ones(64, "f4"), A, (4, 4))
        self.refuse(assay.InputError, "overlap", a=window)

    def test_elements_that_lie_between_addresses(self):
        raw = np.zeros(4 * 32 * 4 + 1, "u1")
        self.refuse(assay.InputError, "lie at", a=raw[1:].view("f4").reshape(A))

    def test_read_only(self):
        frozen = np.zeros((4, 16), "f4")
        frozen.flags.writeable = False
        self.refuse(assay.InputError, "out: .*read-?only", out=frozen)
        versioned = Exporter(frozen, FLOAT, 32, version=(1, 0), flags=READ_ONLY)
        self.refuse(assay.InputError, "out: .*read-?only", out=versioned)
        self.assertEqual(versioned.deleted, 1)
        # Inputs may be.
        a = np.ones(A, "f4")
        a.flags.writeable = False
        np.testing.assert_allclose(self.kernel.run(a, self.b), a @ self.b)
        a = Exporter(np.ones(A, "f4"), FLOAT, 32, version=(1, 0), flags=READ_ONLY)
        np.testing.assert_allclose(self.kernel.run(a, self.b, self.out), a.array @ self.b)

    def test_out_in_an_input(self):
        square = np.ones((16, 16), "f4")
        kernel = assay.get_kernels((square, square))[0]
        with self.assertRaisesRegex(assay.InputError, "memory that a spans"):
            kernel.run(square, square.copy(), square)
        memory = np.ones(16 * 16 + 8, "f4")
        b, out = memory[:256].reshape(16, 16), memory[8:].reshape(16, 16)
        with self.assertRaisesRegex(assay.InputError, "memory that b spans"):
            kernel.run(square, b, out)

    def test_scalars(self):
        self.refuse(assay.InputError, "alpha", alpha=float("nan"))
        self.refuse(assay.InputError, "c: ", beta=1.0)
        self.refuse(assay.InputError, "beta is 0", c=np.ones((4, 16), "f4"))
        self.refuse(assay.InputError, "sizes", beta=1.0, c=np.ones((4, 15), "f4"))
        self.refuse(TypeError, "", alpha="much")
        self.refuse(assay.InputError, "no operand", constant=["d"])
        self.refuse(assay.InputError, "out", constant="out")
        self.refuse(TypeError, "", threads=1.5)

    def test_garbage_capsules(self):
        memory = ctypes.create_string_buffer(256)
        for name in (b"nonsense", b"", None, b"used_dltensor", b"dltensor2"):
            self.refuse(TypeError, "a: a capsule called", a=capsule(name, ctypes.addressof(memory)))
        self.refuse(TypeError, "not a capsule", a=Returns(17))
        self.refuse(assay.InputError, "a: not today", a=Returns(BufferError("not today")))
        self.refuse(ZeroDivisionError, "", a=Returns(ZeroDivisionError("1 / 0")))
        self.refuse(TypeError, "", a=Returns(17, device="cpu"))
        self.refuse(TypeError, "", a=Returns(17, device=("cpu", 0)))
        self.refuse(assay.Unsupported, "device type 2", a=Returns(17, device=(2, 0)))

    def test_capsules_with_garbage_in_them(self):
        array = np.ones(A, "f4")
        cases = [
            ({"device_type": 2}, "device type 2"),
            ({"device_type": -7}, "device type -7"),
            ({"lanes": 4}, "4 lanes"),
            ({"bits": 31}, "31 bits"),
            ({"code": 99}, "type code 99"),
            ({"ndim": -1}, "rank -1"),
            ({"ndim": 1000}, "rank 1000"),
            ({"shape": None}, "without a shape"),
            ({"data": None}, "without data"),
            ({"byte_offset": 2}, "lie at"),
        ]
        for changes, words in cases:
            for version in (None, (1, 0)):
                exporter = Exporter(array, FLOAT, 32, version=version, **changes)
                device = exporter.managed.tensor.device_type
                exporter.__class__ = HonestDevice if device == 1 else LyingDevice
                with self.subTest(changes=changes, version=version):
                    self.refuse(assay.Error, words, a=exporter)
                    gc.collect()
                    self.assertEqual(exporter.deleted, 1)
        for size, words in ((-1, "negative"), (2**62, "2\\^63|2\\^60|not 1"), (0, "size 0")):
            exporter = Exporter(array, FLOAT, 32, strides=None)
            exporter.shape[0] = size
            self.refuse(assay.InputError, words, a=exporter)
        exporter = Exporter(array, FLOAT, 32)
        exporter.strides[0] = 2**62
        self.refuse(assay.InputError, "2\\^63|2\\^60|2\\^46", a=exporter)
        self.refuse(assay.Unsupported, "DLPack 2.0", a=Exporter(array, FLOAT, 32, version=(2, 0)))
        wide = Exporter(np.ones(A, "f4"), BFLOAT, 32)
        self.refuse(assay.Unsupported, "type code 4", a=wide)
        self.refuse(assay.Unsupported, "s32", a=Exporter(np.ones(A, "i4"), SIGNED, 32))

    def test_a_capsule_is_used_once(self):
        exported = self.a.__dlpack__()
        plan = self.kernel.plan(exported, self.b, self.out)
        plan.launch()
        np.testing.assert_allclose(self.out, self.a @ self.b)
        self.out[:] = 0
        self.refuse(TypeError, "used already", a=exported)
        with self.assertRaisesRegex(TypeError, "out"):
            self.kernel.run(self.a.__dlpack__(), self.b)

    def test_classes_of_the_module_are_not_made_by_hand(self):
        for kind in (assay.Plan, assay.Problem):
            with self.assertRaises(TypeError):
                kind()
            with self.assertRaises(TypeError):
                kind.__new__(kind)
            with self.assertRaises(TypeError):
                object.__new__(kind)


class NotGiven:
    """None would be somebody's default."""


class HonestDevice(Exporter):
    pass


class LyingDevice(Exporter):
    """Says CPU, and its capsule says otherwise."""

    def __dlpack_device__(self):
        return (1, 0)


class Returns:
    def __init__(self, value, device=(1, 0)):
        self.value, self.device = value, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


if __name__ == "__main__":
    unittest.main()
