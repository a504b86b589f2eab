"""What can go wrong, by the exit codes of the program.

Every exception of this package that is not one of Python's own is an Error. It carries the exit
code that the command line would have ended with, and the sentence that it would have printed.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Type

__all__ = [
    "Error",
    "InputError",
    "Interrupted",
    "MachineError",
    "RecordsError",
    "Refuted",
    "Unsupported",
    "error_of",
    "error_of_exit",
]


class Error(Exception):
    """A sentence: what is wrong, where, and what would be right."""

    exit_code: int = 5

    def __init__(self, message: str, exit_code: Optional[int] = None, result: Any = None):
        super().__init__(message)
        self.message = message
        if exit_code is not None:
            self.exit_code = exit_code
        self.result = result  # What the program printed all the same (JSON); None where nothing.


class Refuted(Error):
    """A claim was refuted, or something has no winner, and there is nothing to show for it."""

    exit_code = 1


class InputError(Error, ValueError):
    """A file, a flag or an array is wrong."""

    exit_code = 2


class RecordsError(Error):
    """Records are missing, or of another machine or library."""

    exit_code = 3


class Unsupported(Error):
    """Well-formed, but nothing here can run it."""

    exit_code = 4


class MachineError(Error, RuntimeError):
    """The machine failed: a full disk, no memory, somebody else holds the device."""

    exit_code = 5


class Interrupted(Error):
    """Somebody else stopped the program; its journal is complete."""

    exit_code = 130


_BY_EXIT: Dict[int, Type[Error]] = {
    kind.exit_code: kind
    for kind in (Refuted, InputError, RecordsError, Unsupported, MachineError, Interrupted)
}

# As cli/exit_code.cc maps them.
_BY_CODE: Dict[str, Type[Error]] = {
    "invalid_input": InputError,
    "not_found": InputError,
    "unsupported": Unsupported,
    "build_failed": Unsupported,
    "missing": RecordsError,
    "stale": RecordsError,
    "interrupted": Interrupted,
}


def error_of(code: str, message: str) -> Error:
    """The exception for an error of the library."""
    return _BY_CODE.get(code, MachineError)(message)


def error_of_exit(exit_code: int, message: str, result: Any = None) -> Error:
    """The exception for an exit code of the program; below 0, the signal that ended it."""
    if exit_code < 0:
        exit_code = MachineError.exit_code
    return _BY_EXIT.get(exit_code, MachineError)(message, exit_code, result)
