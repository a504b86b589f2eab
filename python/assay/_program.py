"""Runs the program that the package brings, exactly as a command line would."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, IO, List, Mapping, NamedTuple, NoReturn, Sequence

from .errors import Error, InputError, error_of_exit

BINARY = Path(__file__).resolve().parent / "bin" / "assay"

# A program that is told to stop ends its workers and completes its journal first.
_STOP_SECONDS = 20.0


_log = logging.getLogger("assay")


class _Errors(threading.Thread):
    """Reads what the program says beside its result, and logs it line by line.

    That a command waits for its turn is a warning, since nothing else happens meanwhile; all else
    is information.
    """

    def __init__(self, stream: "IO[bytes]") -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._lines: List[bytes] = []
        self.start()

    def run(self) -> None:
        with self._stream:
            self._read()

    def _read(self) -> None:
        for line in self._stream:
            self._lines.append(line)
            text = line.decode("utf-8", "replace").rstrip()
            waits = text.startswith(("waiting for ", "waited "))
            if not text.startswith("assay: "):  # What fails is an exception.
                _log.log(logging.WARNING if waits else logging.INFO, "%s", text)

    def text(self) -> bytes:
        self.join()
        return b"".join(self._lines)


class Output(NamedTuple):
    exit_code: int
    json: Any


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_text(item)}" for key, item in value.items())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value)


def flag_words(flags: Mapping[str, object]) -> List[str]:
    """budget="5s", shapes=["a", "b"], why=True as the words of a command line.

    None and False leave a flag out. Flags that there are not are the program's to refuse.
    """
    words: List[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
            continue
        items = value if isinstance(value, (list, tuple)) else [value]
        for item in items:
            # Times are seconds where no unit is given.
            if name in ("budget", "timeout") and isinstance(item, (int, float)):
                item = f"{item}s"
            words.append(f"{flag}={_text(item)}")
    return words


def file_word(file: object) -> str:
    """A file as a word that is no flag."""
    word = os.fspath(file)  # type: ignore[call-overload]
    if not isinstance(word, str) or not word:
        raise InputError(f"{file!r} is no file's name")
    return f"./{word}" if word.startswith("-") else word


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except BaseException:  # It hangs, or the user insists: its guard ends what it started.
        process.kill()
        process.wait()


def _parse(printed: bytes) -> Any:
    """What was printed, if all of it was."""
    try:
        return json.loads(printed)
    except ValueError:
        return None


def _failure(exit_code: int, result: Any, errors: bytes) -> Error:
    if isinstance(result, dict) and result.get("schema") == "assay.error/1":
        return error_of_exit(exit_code, result["error"]["message"])
    return error_of_exit(exit_code, _sentence(errors, exit_code), result)


def _sentence(errors: bytes, exit_code: int) -> str:
    text = errors.decode("utf-8", "replace").strip()
    at = text.rfind("assay: ")
    if at >= 0:
        text = text[at + len("assay: ") :]
    if text:
        return text
    if exit_code < 0:
        return f"the program was ended by {signal.Signals(-exit_code).name}"
    return f"the program ended with exit code {exit_code}"


def run(
    words: Sequence[str], *, progress: bool = False, accepted: Sequence[int] = (0, 1)
) -> Output:
    """The JSON that the program prints, and its exit code; those not accepted are exceptions.

    progress: what the command line shows on a terminal goes to this process's standard error;
    without it the same goes to the logger "assay". A KeyboardInterrupt stops the program, which
    leaves no process behind, and is raised again.
    """
    command = [str(BINARY), *words, "--json"]
    if not os.access(BINARY, os.X_OK):
        raise error_of_exit(5, f"{BINARY} is missing or not executable; install the wheel again")
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if progress else subprocess.PIPE,
    )
    errors = _Errors(process.stderr) if process.stderr is not None else None
    try:
        assert process.stdout is not None
        with process.stdout as stdout:
            printed = stdout.read()
        process.wait()
    except BaseException:
        _stop(process)
        raise
    said = errors.text() if errors is not None else b""
    exit_code = process.returncode
    result = _parse(printed)
    if exit_code not in accepted or result is None or "error" in result:
        raise _failure(exit_code, result, said)
    return Output(exit_code, result)


def shape_text(shape: object) -> str:
    """m=4,n=2048,k=1024,dtype=f32, of a text or of a mapping."""
    if isinstance(shape, str):
        return shape
    if isinstance(shape, Mapping):
        return ",".join(f"{name}={_field(value)}" for name, value in shape.items())
    raise TypeError(f"shape: a text or a mapping, not {type(shape).__name__}")


def _field(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "+".join(str(item) for item in value) or "none"
    return str(value)


def shape_flags(shape: object) -> Dict[str, object]:
    """The flag --shape of one shape or a list of them; none for None."""
    if shape is None:
        return {}
    shapes = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    return {"shape": [shape_text(one) for one in shapes]}


def main() -> NoReturn:
    """The console command `assay`: becomes the program, so that nothing of Python stays."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(BINARY, ["assay", *sys.argv[1:]])
