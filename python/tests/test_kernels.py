"""Kernels in the process: found, planned, launched, right."""

import gc
import threading
import unittest
import weakref

import numpy as np

import assay
import exporters

TOLERANCE = {"f8": 1e-12, "f4": 1e-4, "f2": 2e-2}
WATCHDOG_SECONDS = 120


def numbers(shape, dtype="f4", seed=1):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        return random.integers(-127, 128, shape).astype(dtype)
    return random.uniform(-1, 1, shape).astype(dtype)


def some(kernels, most=3):
    """The first few of each provider."""
    chosen = []
    for kernel in kernels:
        if sum(other.provider == kernel.provider for other in chosen) < most:
            chosen.append(kernel)
    return chosen


def first(problem, **query):
    kernels = assay.get_kernels(problem, **query)
    if not kernels:
        raise unittest.SkipTest(f"no kernel takes it: {kernels.refusals}")
    return kernels[0]


class Discovery(unittest.TestCase):
    def test_a_shape_finds_what_its_arrays_find(self):
        by_shape = assay.get_kernels("m=4,n=64,k=32,dtype=f32,layout=tt,constant=none")
        a, b = assay.empty((4, 32)), assay.empty((32, 64))
        by_arrays = assay.get_kernels((a, b))
        self.assertGreater(len(by_shape), 0)
        self.assertEqual([k.id for k in by_shape], [k.id for k in by_arrays])
        mapping = {"m": 4, "n": 64, "k": 32, "dtype": "f32", "layout": "tt", "constant": []}
        self.assertEqual(by_shape, assay.get_kernels(mapping))
        self.assertEqual(by_shape.problem.dimensions, {"l": 1, "m": 4, "n": 64, "k": 32})

    def test_kernels_say_what_they_are(self):
        kernel = first("m=4,n=64,k=32", providers="native_cpu")
        self.assertEqual(kernel.role, "ours")
        self.assertEqual(kernel.label, f"native_cpu/{kernel.name}")
        self.assertEqual(len(kernel.id), 64)
        self.assertEqual(kernel.metadata["id"], kernel.id)
        for name, value in kernel.design.items():
            self.assertEqual(kernel.metadata["design"][name], value)

    def test_filters_are_expressions_or_functions(self):
        everything = assay.get_kernels("m=4,n=64,k=32")
        prepared = assay.get_kernels("m=4,n=64,k=32", filter="prepares")
        by_function = assay.get_kernels("m=4,n=64,k=32", filter=lambda kernel: kernel.prepares)
        self.assertEqual([k.id for k in prepared], [k.id for k in by_function])
        self.assertGreater(prepared.refusals["filter"][0], 0)
        self.assertEqual(by_function.refusals["filter"][0], len(everything) - len(by_function))
        self.assertLess(len(prepared), len(everything))
        own = assay.get_kernels("m=4,n=64,k=32", filter=everything[0].filter)
        self.assertIn(everything[0], own)
        with self.assertRaisesRegex(assay.InputError, "prepare"):
            assay.get_kernels("m=4,n=64,k=32", filter="prepars")

    def test_refusals_are_counted_and_said(self):
        kernels = assay.get_kernels("m=4,n=64,k=32,dtype=f64", providers="native_cpu")
        self.assertEqual(list(kernels), [])
        self.assertGreater(kernels.refusals["dtype"][0], 0)
        kernel = first("m=4,n=64,k=32", providers="native_cpu")
        self.assertEqual(kernel.refusals("m=4,n=64,k=32"), [])
        reason, sentence = kernel.refusals("m=4,n=64,k=32,dtype=f64")[0]
        self.assertEqual(reason, "dtype")
        self.assertIn("f64", sentence)

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(assay.InputError, "openblas"):
            assay.get_kernels("m=4,n=64,k=32", providers=["openblass"])
        with self.assertRaisesRegex(assay.InputError, "column"):
            assay.get_kernels("m=4,n=64,l=32")
        with self.assertRaisesRegex(assay.InputError, "2 problems"):
            assay.get_kernels("m=4|8,n=64,k=32")
        with self.assertRaises(assay.InputError):
            assay.get_kernels("m=4,n=64,k=32", target="+++")
        with self.assertRaises(TypeError):
            assay.get_kernels(17)
        with self.assertRaises(TypeError):
            assay.get_kernels("m=4,n=64,k=32", constant="b")


class Numbers(unittest.TestCase):
    def check(self, a, b, expected, tolerance, **options):
        kernels = assay.get_kernels((a, b), **{k: v for k, v in options.items() if k != "threads"})
        self.assertGreater(len(kernels), 0, kernels.refusals)
        for kernel in some(kernels):
            with self.subTest(kernel.label):
                out = kernel.run(a, b, **options)
                np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance * 8)

    def test_floats_in_every_layout(self):
        for dtype, tolerance in TOLERANCE.items():
            a, b = numbers((5, 48), dtype), numbers((48, 33), dtype, seed=2)
            expected = a.astype("f8") @ b.astype("f8")
            if dtype == "f2" and not assay.get_kernels((a, b)):
                continue  # No kernel of this machine takes f16.
            for one in (a, np.asfortranarray(a)):
                for other in (b, np.asfortranarray(b)):
                    self.check(one, other, expected, tolerance)

    def test_integers_are_exact(self):
        a, b = numbers((3, 40), "i1"), numbers((40, 16), "i1", seed=2)
        expected = a.astype("i8") @ b.astype("i8")
        kernels = assay.get_kernels((a, b))
        for kernel in some(kernels):
            out = kernel.run(a, b)
            self.assertEqual(out.dtype, np.int32)
            np.testing.assert_array_equal(out, expected)
        out = np.empty((3, 16), "i4")
        reference = assay.get_kernels((a, b, out), providers="reference")
        for kernel in reference:
            np.testing.assert_array_equal(kernel.run(a, b, out), expected)

    def test_batches(self):
        a, b = numbers((3, 4, 32)), numbers((3, 32, 16), seed=2)
        kernels = assay.get_kernels((a, b))
        for kernel in some(kernels):
            out = kernel.run(a, b)
            self.assertEqual(out.shape, (3, 4, 16))
            np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-3)

    def test_rows_apart_are_read_and_written_where_they_lie(self):
        wide = numbers((6, 100))
        a, b = wide[:, 10:42], numbers((32, 16), seed=2)
        around = np.full((6, 40), 7.0, "f4")
        out = around[:, 8:24]
        kernels = assay.get_kernels((a, b, out))
        self.assertGreater(len(kernels), 0, kernels.refusals)
        for kernel in some(kernels):
            with self.subTest(kernel.label):
                around[:] = 7
                self.assertIs(kernel.run(a, b, out), out)
                np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)
                self.assertTrue((around[:, :8] == 7).all() and (around[:, 24:] == 7).all())

    def test_scalars_and_c(self):
        a, b, c = numbers((4, 32)), numbers((32, 16), seed=2), numbers((4, 16), seed=3)
        options = {"alpha": 0.5, "beta": 2.0, "c": c}
        kernels = assay.get_kernels((a, b), **options)
        self.assertGreater(len(kernels), 0, kernels.refusals)
        for kernel in some(kernels):
            with self.subTest(kernel.label):
                out = kernel.run(a, b, **options)
                np.testing.assert_allclose(out, 0.5 * (a @ b) + 2 * c, rtol=1e-4, atol=1e-3)

    def test_epilogues(self):
        a, b = numbers((5, 64)), numbers((64, 32), seed=2)
        bias, residual = numbers(32, seed=3), numbers((5, 32), seed=4)
        wanted = np.maximum(a @ b + bias, 0) + residual
        asked = {"epilogue": "bias+relu+residual",
                 "epilogue_operands": {"residual": residual, "bias": bias}}
        kernels = some(assay.get_kernels((a, b), **asked))
        self.assertGreater(len(kernels), 0)
        for kernel in kernels:
            np.testing.assert_allclose(kernel.run(a, b, **asked), wanted, atol=1e-4)
            plan = kernel.plan(a, b, out := assay.empty((5, 32)), **asked)
            twice = assay.empty(32)  # As aligned as what was planned with.
            twice[:] = 2 * bias
            plan.rebind(a, b, out, epilogue_operands={"bias": twice, "residual": residual})
            plan.launch()
            np.testing.assert_allclose(out, np.maximum(a @ b + 2 * bias, 0) + residual, atol=1e-4)
        gate, up = np.split(a @ b, 2, axis=1)
        kernel = first((a, b), epilogue="swiglu")
        np.testing.assert_allclose(
            kernel.run(a, b, epilogue="swiglu"), gate / (1 + np.exp(-gate)) * up, atol=1e-4)
        for mistake, sentence in (
                ({"epilogue": "bias"}, "needs an operand bias"),
                ({"epilogue_operands": {"bias": bias}}, "no step of that name"),
                ({"epilogue": "tanh"}, "tanh"),
                ({"epilogue": "bias", "epilogue_operands": {"bias": bias[:7]}}, "32 elements")):
            with self.assertRaisesRegex(assay.errors.InputError, sentence):
                assay.get_kernels((a, b), **mistake)
        with self.assertRaisesRegex(assay.errors.InputError, "out: it lies in the memory"):
            first((a, b), **asked).run(a, b, residual, **asked)

    def test_weights_that_are_packed_once(self):
        a, b = assay.empty((4, 64)), assay.empty((64, 96))
        a[:], b[:] = numbers(a.shape), numbers(b.shape, seed=2)
        kernel = first((a, b), filter="prepares", constant="b")
        out = assay.empty((4, 96))
        plan = kernel.plan(a, b, out, constant="b")
        self.assertGreater(plan.prepared_bytes, 0)
        plan.launch()
        np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)
        with self.assertRaisesRegex(assay.Unsupported, "constant"):
            kernel.plan(a, b, out)

    def test_bfloat16_by_dlpack_and_by_its_bits(self):
        a, b = numbers((4, 64)), numbers((64, 32), seed=2)
        bits_a, bits_b = exporters.bfloat16_bits(a), exporters.bfloat16_bits(b)
        expected = exporters.of_bfloat16_bits(bits_a) @ exporters.of_bfloat16_bits(bits_b)
        by_bits = assay.as_bfloat16(bits_a), assay.as_bfloat16(bits_b)
        by_dlpack = (
            exporters.Exporter(bits_a, exporters.BFLOAT, 16),
            exporters.Exporter(bits_b, exporters.BFLOAT, 16, version=(1, 0)),
        )
        kernels = assay.get_kernels(by_bits)
        if not kernels:
            self.skipTest(f"no kernel takes bfloat16 here: {kernels.refusals}")
        self.assertEqual(kernels.problem.dtypes, {"a": "bf16", "b": "bf16", "out": "bf16"})
        for pair in (by_bits, by_dlpack):
            for kernel in some(kernels):
                with self.subTest(kernel.label):
                    out = np.zeros((4, 32), "u2")
                    kernel.run(*pair, assay.as_bfloat16(out))
                    found = exporters.of_bfloat16_bits(out)
                    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=5e-2)
        with self.assertRaises((assay.InputError, TypeError)):
            assay.as_bfloat16(a)

    def test_bfloat16_of_ml_dtypes(self):
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        a, b = numbers((4, 64)).astype(bfloat16), numbers((64, 32), seed=2).astype(bfloat16)
        kernel = first((a, b))
        out = kernel.run(a, b)
        expected = a.astype("f8") @ b.astype("f8")
        np.testing.assert_allclose(out.astype("f8"), expected, rtol=2e-2, atol=5e-2)


class Lives(unittest.TestCase):
    def test_a_plan_keeps_its_arrays_and_lets_go_of_them(self):
        a, b, out = numbers((4, 32)), numbers((32, 16), seed=2), np.zeros((4, 16), "f4")
        expected = a @ b
        plan = first((a, b, out)).plan(a, b, out)
        alive = weakref.ref(a)
        del a, b
        gc.collect()
        self.assertIsNotNone(alive())
        for _ in range(3):
            out[:] = 0
            plan.launch()
            np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
        del plan
        gc.collect()
        self.assertIsNone(alive())

    def test_a_deleter_is_called_once(self):
        for version in (None, (1, 0), (1, 7)):
            array = numbers((4, 32))
            b, out = numbers((32, 16), seed=2), np.zeros((4, 16), "f4")
            exporter = exporters.Exporter(array, exporters.FLOAT, 32, version=version)
            plan = first((array, b, out)).plan(exporter, b, out)
            plan.launch()
            np.testing.assert_allclose(out, array @ b, rtol=1e-4, atol=1e-4)
            self.assertEqual(exporter.deleted, 0)
            del plan
            gc.collect()
            self.assertEqual(exporter.deleted, 1)
            self.assertEqual(exporter.asked[0], {"max_version": (1, 0)})

    def test_a_plan_may_be_bound_to_other_arrays(self):
        a, b, out = (assay.empty(shape) for shape in ((4, 32), (32, 16), (4, 16)))
        a[:], b[:] = numbers(a.shape), numbers(b.shape, seed=2)
        plan = first((a, b, out)).plan(a, b, out)
        more, other = assay.empty((4, 32)), assay.empty((4, 16))
        more[:] = 2 * a
        plan.rebind(more, b, other)
        plan.launch()
        np.testing.assert_allclose(other, 2 * (a @ b), rtol=1e-4, atol=1e-4)
        with self.assertRaisesRegex(assay.InputError, "differ"):
            plan.rebind(more[:2], b, other[:2])
        with self.assertRaisesRegex(assay.InputError, "differ"):
            plan.rebind(np.asfortranarray(more), b, other)
        plan.launch()  # As before.
        self.assertEqual(plan.problem.dimensions["m"], 4)

    def test_the_interpreter_is_free_while_a_plan_runs(self):
        a, b = numbers((256, 512)), numbers((512, 512), seed=2)
        out = np.zeros((256, 512), "f4")
        plan = first((a, b, out)).plan(a, b, out)
        stop = threading.Event()

        def launch():
            while not stop.is_set():
                try:
                    plan.launch()
                except assay.MachineError:
                    pass

        thread = threading.Thread(target=launch)
        thread.start()
        timer = threading.Timer(WATCHDOG_SECONDS, stop.set)
        timer.start()
        met = False
        # Two threads can only meet inside a launch if the one that launches lets the other run.
        while not met and not stop.is_set():
            try:
                plan.launch()
            except assay.MachineError as error:
                met = "another thread" in error.message
        stop.set()
        timer.cancel()
        thread.join()
        self.assertTrue(met, "a launch never let another thread run")

    def test_threads(self):
        a, b = numbers((64, 64)), numbers((64, 64), seed=2)
        out = np.zeros((64, 64), "f4")
        kernel = first((a, b, out))
        self.assertEqual(kernel.plan(a, b, out, threads=1).threads, 1)
        with self.assertRaisesRegex(assay.InputError, "threads asked for"):
            kernel.plan(a, b, out, threads=10_000)
        with self.assertRaises(assay.InputError):
            kernel.plan(a, b, out, threads=-1)


if __name__ == "__main__":
    unittest.main()
