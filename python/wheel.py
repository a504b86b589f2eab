"""Packs the staged package into a wheel. Standard library only, so that it works offline.

    wheel.py facts                   include folder; module suffix; tags: a CMake list
    wheel.py pack --package D ...    writes the wheel (PEP 427), the same bytes for the same input
"""

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

NAME = "assay"
SUMMARY = "Discovers, compiles, proves, races and compares compute kernels"
EPOCH = (1980, 1, 1, 0, 0, 0)  # The earliest that a zip archive can say.


def facts() -> str:
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tags = f"{version}-{version}-{platform}"
    return ";".join(
        (sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX"), tags)
    )


def metadata(version: str, readme: str) -> str:
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
        f"Requires-Python: =={sys.version_info.major}.{sys.version_info.minor}.*\n"
        "Provides-Extra: numpy\nRequires-Dist: numpy >=1.23 ; extra == 'numpy'\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )


def stripped(path: Path) -> bytes:
    """A module without what only a debugger reads."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        command = [os.environ.get("STRIP", "strip"), "--strip-debug", "-o", str(copy), str(path)]
        subprocess.run(command, check=True)
        return copy.read_bytes()


class Wheel:
    def __init__(self, path: Path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name: str, content: bytes, executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def finish(self, information: str) -> None:
        name = f"{information}/RECORD"
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.external_attr = 0o100644 << 16
        self.archive.writestr(entry, "".join(self.record) + f"{name},,\n")
        self.archive.close()


def pack(package: Path, version: str, tags: str, source: Path, output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    for old in output.parent.glob(f"{NAME}-*.whl"):
        old.unlink()
    part = output.with_suffix(".part")
    wheel = Wheel(part)
    for path in sorted(package.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        content = stripped(path) if path.suffix == ".so" else path.read_bytes()
        name = f"{NAME}/{path.relative_to(package).as_posix()}"
        wheel.add(name, content, executable=os.access(path, os.X_OK) and path.suffix == "")
    information = f"{NAME}-{version}.dist-info"
    readme = (source / "python" / "README.md").read_text()
    python, abi, platform = tags.split("-", 2)
    wheel.add(f"{information}/METADATA", metadata(version, readme).encode())
    wheel.add(
        f"{information}/WHEEL",
        f"Wheel-Version: 1.0\nGenerator: assay\nRoot-Is-Purelib: false\n"
        f"Tag: {python}-{abi}-{platform}\n".encode(),
    )
    wheel.add(f"{information}/entry_points.txt", b"[console_scripts]\nassay = assay:main\n")
    wheel.add(f"{information}/top_level.txt", f"{NAME}\n".encode())
    wheel.add(f"{information}/LICENSE", (source / "LICENSE").read_bytes())
    wheel.finish(information)
    part.replace(output)


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("facts")
    packing = commands.add_parser("pack")
    packing.add_argument("--package", type=Path, required=True)
    packing.add_argument("--version", required=True)
    packing.add_argument("--tags", required=True)
    packing.add_argument("--source", type=Path, required=True)
    packing.add_argument("--output", type=Path, required=True)
    given = vars(parser.parse_args())
    if given.pop("command") == "facts":
        print(facts())
    else:
        pack(**given)


if __name__ == "__main__":
    main()
