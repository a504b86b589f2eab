"""Installs the wheel into a fresh environment, offline, and runs the tests there."""

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("tests", nargs="*", help="names of tests, for unittest; all without")
    given = parser.parse_args()
    folder = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    environment = folder / "environment"
    # NumPy is the distribution's; nothing comes from a network.
    venv.create(environment, system_site_packages=True, with_pip=True)
    python = environment / "bin" / "python"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(given.wheel.resolve())]
    subprocess.run([python, *install], check=True)
    # Neither a package of the caller's nor a lock or a cache of somebody else takes part.
    variables = {
        "PATH": f"{environment / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "HOME": str(folder),
        "ASSAY_LOCK_DIR": str(folder / "locks"),
        "ASSAY_CACHE_DIR": str(folder / "cache"),
        "ASSAY_TEST_ENVIRONMENT": str(environment),
        "PYTHONFAULTHANDLER": "1",
    }
    here = Path(__file__).resolve().parent
    names = given.tests or ["discover", "--start-directory", str(here), "--pattern", "test_*.py"]
    if given.tests:
        variables["PYTHONPATH"] = str(here)
    command = [str(python), "-m", "unittest", *names]
    return subprocess.run(command, cwd=work, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
