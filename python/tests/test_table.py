"""Tuned tables: made by the program, used in the process."""

import gc
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

import assay
from test_kernels import numbers


def weights():
    a, b, out = assay.empty((4, 64)), assay.empty((64, 96)), assay.empty((4, 96))
    a[:], b[:], out[:] = numbers(a.shape), numbers(b.shape, seed=2), 0
    return a, b, out


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        before = os.getcwd()
        os.chdir(cls.folder.name)
        try:
            cls.sweep = assay.sweep(
                shape=[f"m={m},n=96,k=64,dtype=f32,layout=tt" for m in (4, 16)],
                budget=4,
                threads=1,
                output_dir="out",
                save_table="tuned.assay",
            )
        finally:
            os.chdir(before)
        cls.path = Path(cls.folder.name) / "tuned.assay"

    def setUp(self):
        self.table = assay.load_table(self.path)

    def test_what_was_tuned_runs_as_it_was_tuned(self):
        self.assertEqual(self.table.staleness, [])
        self.assertEqual(self.table.threads, 1)
        self.assertEqual(len(self.table.problems), 2)
        a, b, out = weights()
        choice = self.table.choose((a, b, out), constant="b")
        self.assertEqual(choice.rule, "exact")
        self.assertEqual(choice.tuned, self.sweep[0].name)
        self.assertEqual(choice.kernel.label, self.sweep[0].winner.label)
        self.assertEqual(choice.kernel.id, self.sweep[0].winner.id)
        plan = self.table.plan(a, b, out, constant="b")
        self.assertTrue(plan.choice.startswith("exact"))
        del self.table
        gc.collect()
        plan.launch()
        np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)

    def test_what_was_not_tuned_takes_the_nearest(self):
        choice = self.table.choose("m=8,n=96,k=64,dtype=f32,layout=tt")
        self.assertEqual(choice.rule, "nearest")
        self.assertGreater(choice.distance, 0)
        a, b = numbers((9, 64)), numbers((64, 96), seed=2)
        np.testing.assert_allclose(
            self.table.run(a, b, constant="b"), a @ b, rtol=1e-4, atol=1e-4
        )

    def test_where_nothing_fits_it_says_so(self):
        with self.assertRaises(assay.Unsupported):
            self.table.choose("m=4,n=96,k=64,dtype=f64,layout=tt")
        a, b, out = weights()
        with self.assertRaises(assay.Unsupported):
            self.table.plan(a.astype("f8"), b.astype("f8"), out.astype("f8"), constant="b")
        with self.assertRaisesRegex(assay.InputError, "k = 64"):
            self.table.plan(a, b[:5], out, constant="b")

    def test_kernels_of_ones_own_are_named_by_their_files(self):
        folder = Path(self.folder.name)
        source = folder / "mine.cc"
        source.write_text(
            "// assay: {entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}\n"
            "#include <cstdint>\n"
            "void mine(const float* a, const float* b, float* out, int64_t m, int64_t n,"
            " int64_t k) {\n"
            "  for (int64_t i = 0; i < m; ++i)\n"
            "    for (int64_t j = 0; j < n; ++j) {\n"
            "      double sum = 0;\n"
            "      for (int64_t p = 0; p < k; ++p) sum += (double)a[i * k + p] * b[p * n + j];\n"
            "      out[i * n + j] = (float)sum;\n"
            "    }\n"
            "}\n"
        )
        path = folder / "mine.assay"
        assay.sweep(
            shape="m=4,n=96,k=64,dtype=f32,layout=tt",
            kernels=[source],
            filter="provider == 'cpp_source'",
            budget=2,
            threads=1,
            output_dir=str(folder / "own"),
            save_table=str(path),
        )
        with self.assertRaisesRegex(assay.Unsupported, "no kernel of this table"):
            assay.load_table(path)
        table = assay.load_table(path, kernels=source)
        self.assertEqual(table.staleness, [])
        a, b, out = weights()
        plan = table.plan(a, b, out, constant="b")
        self.assertEqual(plan.kernel_name, "mine")
        plan.launch()
        np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)
        with self.assertRaises(assay.InputError):
            assay.load_table(path, kernels=[folder / "absent.so"])

    def test_files_that_are_no_tables(self):
        folder = Path(self.folder.name)
        whole = self.path.read_bytes()
        cases = {"empty": b"", "text": b"hello", "cut": whole[: len(whole) // 2]}
        cases["flipped"] = whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]
        for name, content in cases.items():
            path = folder / name
            path.write_bytes(content)
            with self.subTest(name), self.assertRaisesRegex(assay.InputError, name):
                assay.load_table(path)
        with self.assertRaisesRegex(assay.InputError, "absent"):
            assay.load_table(folder / "absent")
        with self.assertRaises(TypeError):
            assay.load_table(17)


if __name__ == "__main__":
    unittest.main()
