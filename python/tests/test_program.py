"""The commands: the program inside the wheel, run as a process."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import assay
from assay import _program

SHAPE = "m=8,n=32,k=16,dtype=f32,layout=tt"
GOOD = """
// assay: {entry: gemm, a: f32, b: f32, out: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <cstdint>
extern "C" void gemm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
"""
WORDS = {"faster", "slightly faster", "same", "slightly slower", "slower", "unsure"}
WATCHDOG_SECONDS = 120


def stock():
    for provider in assay.providers():
        if provider["role"] == "stock" and provider["available"]:
            return provider["name"]
    raise unittest.SkipTest("no stock library is installed")


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder.name)
        Path("good.cc").write_text(GOOD)


class Races(InAFolder):
    def test_a_file_gets_its_verdict(self):
        race = assay.race("good.cc", SHAPE, against=stock(), budget=2, threads=1)
        self.assertIn(race.word, WORDS)
        self.assertLessEqual(race.low, race.ratio)
        self.assertLessEqual(race.ratio, race.high)
        self.assertGreater(race.winner.runtime_ms, 0)
        self.assertEqual(race.verdict.candidate, "cpp_source/gemm")
        self.assertTrue(race.verdict.other.startswith(stock()))
        self.assertTrue(race.record.is_file())
        self.assertEqual(race.dict["schema"], "assay.summary/1")
        self.assertEqual(race.dict["threads"], 1)
        self.assertIn(race.word, str(race))
        # Whoever does not believe it makes the words again.
        self.assertTrue(assay.compare(recompute=race.record).holds)

    def test_a_wrong_kernel_is_a_result_without_a_verdict(self):
        Path("wrong.cc").write_text(GOOD.replace("= 0;", "= 1;", 2))
        race = assay.race(Path("wrong.cc"), {"m": 8, "n": 32, "k": 16, "layout": "tt"},
                          provider=stock(), budget="2s")
        self.assertIsNone(race.verdict)
        self.assertIsNone(race.word)
        self.assertEqual(race.exit_code, 1)
        self.assertIn("mismatch", race.reason)

    def test_of_several_files_the_refused_one_is_said_and_the_rest_race(self):
        Path("picky.cc").write_text(GOOD.replace("layout: tt,", "layout: tt, divisibility: {k: 7},"))
        race = assay.race(["good.cc", "picky.cc"], SHAPE, provider=stock(), budget=2, threads=1)
        self.assertIn(race.word, WORDS)
        self.assertEqual(race.exit_code, 1)
        (sentences,) = race.refused.values()
        self.assertRegex(sentences[0], "^picky.cc: .*k % 7")

    def test_a_refused_kernel_says_why(self):
        Path("picky.cc").write_text(GOOD.replace("layout: tt,", "layout: tt, divisibility: {k: 7},"))
        race = assay.race("picky.cc", SHAPE, provider=stock())
        self.assertIsNone(race.verdict)
        self.assertIsNone(race.record)
        self.assertIn("k % 7", race.reason)
        with self.assertRaisesRegex(assay.InputError, "GPU-00000000-ffff"):
            assay.race("picky.cc", SHAPE, device="GPU-00000000-ffff")

    def test_kernels_of_the_catalog_race_too(self):
        kernels = assay.get_kernels(SHAPE, providers="native_cpu")
        if not kernels:
            self.skipTest("native_cpu has no kernel for this machine")
        opponent = stock()
        race = assay.race(kernels[0], SHAPE, against=opponent, budget=2, threads=1)
        self.assertEqual(race.verdict.candidate, kernels[0].label)
        self.assertTrue(race.verdict.other.startswith(opponent))
        self.assertTrue(str(race.record).startswith("runs/0001-"))
        with self.assertRaisesRegex(assay.InputError, "do not mix"):
            assay.race([kernels[0], "good.cc"], SHAPE)
        with self.assertRaisesRegex(assay.InputError, "is stock"):
            assay.race(assay.get_kernels(SHAPE, providers=opponent)[0], SHAPE)

    def test_mistakes_are_exceptions_with_the_exit_code(self):
        for call, words in (
            (lambda: assay.race("absent.cc", SHAPE), "absent.cc"),
            (lambda: assay.race("good.cc", "m=8,n=32,q=16"), "q"),
            (lambda: assay.race("good.cc"), "which problem"),
            (lambda: assay.race("good.cc", SHAPE, marign="1%"), "--margin"),
            (lambda: assay.race("good.cc", SHAPE, against="nobody"), "neither a file nor"),
            (lambda: assay.race([], SHAPE), "no kernels"),
            (lambda: assay.race("-v.cc", SHAPE), "v.cc"),
        ):
            with self.assertRaisesRegex(assay.InputError, words) as raised:
                call()
            self.assertEqual(raised.exception.exit_code, 2)
            self.assertIsInstance(raised.exception, ValueError)
            self.assertNotIn("assay:", raised.exception.message)
        with self.assertRaises(TypeError):
            assay.race("good.cc", 17)
        with mock.patch.object(_program, "BINARY", Path("absent")):
            with self.assertRaisesRegex(assay.MachineError, "install the wheel") as raised:
                assay.race("good.cc", SHAPE)
        self.assertEqual(raised.exception.exit_code, 5)


class Sweeps(InAFolder):
    def test_a_sweep_and_its_comparison(self):
        names = [one["name"] for one in assay.providers() if one["available"]]
        pool = [name for name in ("openblas", "onednn") if name in names]
        if len(pool) < 2:
            self.skipTest("it takes OpenBLAS and oneDNN")
        sweep = assay.sweep(shape=[SHAPE, "m=4,n=32,k=16,dtype=f32"], provider=pool, budget=4,
                            threads=1, output_dir="out")
        self.assertEqual(len(sweep), 2)
        for problem in sweep:
            self.assertIsNotNone(problem.winner)
            self.assertIs(sweep[problem.name], problem)
        self.assertEqual(sweep.record, Path("out/record.json"))
        files = {path.name.split("_results")[0]: path for path in sweep.results}
        comparison = assay.compare(files["openblas"], [files["onednn"]])
        self.assertTrue(comparison.holds)
        self.assertEqual(len(comparison.problems), 2)
        claim = assay.compare(files["openblas"], files["onednn"], require="onednn",
                              margin="90%", output="claim.json")
        self.assertFalse(claim.holds)
        self.assertEqual(claim.exit_code, 1)
        with self.assertRaises(assay.InputError):  # A run is there already.
            assay.sweep(shape=SHAPE, provider=pool, output_dir="out")
        with self.assertRaises(assay.RecordsError) as raised:
            assay.compare(files["openblas"], "absent_results.json")
        self.assertEqual(raised.exception.exit_code, 3)


class Interruption(InAFolder):
    def processes(self):
        """Every process that works in this folder, or in one below."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if os.readlink(entry / "cwd").startswith(os.path.realpath(self.folder.name)):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def wait_until(self, holds):
        end = time.monotonic() + WATCHDOG_SECONDS
        while not holds():
            self.assertLess(time.monotonic(), end, "the watchdog barked")
            time.sleep(0.02)

    def test_ctrl_c_stops_the_program_and_is_raised(self):
        code = f"import assay; assay.race('good.cc', {SHAPE!r}, provider={stock()!r}, budget=100)"
        python = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        self.addCleanup(python.kill)
        self.wait_until(lambda: any(Path("runs").glob("*/journal*")))
        os.kill(python.pid, signal.SIGINT)  # To Python alone: the program must hear it from there.
        _, errors = python.communicate(timeout=WATCHDOG_SECONDS)
        self.assertIn("KeyboardInterrupt", errors)
        self.wait_until(lambda: not self.processes())
        self.assertFalse(list(Path("runs").glob("*/record.json")))


class Waiting(InAFolder):
    def test_a_wait_for_the_machine_is_two_warnings(self):
        Path("locks").mkdir()
        with open("locks/assay-cpu.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with self.assertLogs("assay", "WARNING") as logs:
                race = threading.Thread(
                    target=assay.race,
                    args=("good.cc", SHAPE),
                    kwargs={"against": stock(), "budget": 1, "lock_dir": "locks"},
                )
                race.start()
                end = time.monotonic() + WATCHDOG_SECONDS
                while not logs.output and time.monotonic() < end:
                    time.sleep(0.02)
                fcntl.flock(lock, fcntl.LOCK_UN)
                race.join()
        self.assertEqual(len(logs.output), 2, logs.output)
        self.assertIn("waiting for this machine's cores, next in line", logs.output[0])
        self.assertIn("going on", logs.output[1])


class Commands(unittest.TestCase):
    def run_words(self, *words):
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def test_the_command_and_the_module_are_the_program(self):
        command = Path(os.environ["ASSAY_TEST_ENVIRONMENT"]) / "bin" / "assay"
        for words in ([str(command)], [sys.executable, "-m", "assay"]):
            version = self.run_words(*words, "--version")
            self.assertEqual(version.returncode, 0)
            self.assertIn(assay.__version__, version.stdout)
            wrong = self.run_words(*words, "rase")
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("race", wrong.stderr)

    def test_the_package_is_the_installed_one_and_typed(self):
        folder = Path(assay.__file__).parent
        self.assertTrue(str(folder).startswith(os.environ["ASSAY_TEST_ENVIRONMENT"]))
        self.assertTrue((folder / "py.typed").is_file())
        for name in assay.__all__:
            self.assertIsNotNone(getattr(assay, name))
        with self.assertRaises(AttributeError):
            assay.nothing_of_the_kind


if __name__ == "__main__":
    unittest.main()
