"""Runs a user's script that writes an object with TVM-FFI entry points, ahead of time and without a
GPU.

assay runs this with the Python that has apache-tvm-ffi, in a process that has given up its rights
and stands in an empty folder of its own. What is asked for comes as one JSON object on standard
input; one line of JSON goes back on standard output: {"object": HEX} or {"error": TEXT}. All else
that is printed goes to standard error. The script's files come as text inside the request, so that
what runs is what the cache's key knows.
"""

import json
import os
import runpy
import sys
import traceback

OUTPUT = "kernel.so"


def place_of(error):
    """The last line of the script's own files that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%d: " % (os.path.basename(error.filename), error.lineno or 1)
    own = os.getcwd()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if os.path.abspath(frame.filename).startswith(own + os.sep):
            return "%s:%d: " % (os.path.relpath(frame.filename, own), frame.lineno)
    return ""


def described(error):
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return place_of(error) + text[-2000:]


def main():
    answer_to = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What the script prints is no answer.
    asked = json.load(sys.stdin)
    for name, text in asked["files"].items():
        os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
        with open(name, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    sys.path.insert(0, os.getcwd())
    sys.argv = [asked["main"], "--output", OUTPUT, "--arch", asked["arch"]]
    error = ""
    try:
        runpy.run_path(os.path.abspath(asked["main"]), run_name="__main__")
    except SystemExit as ended:
        if ended.code not in (None, 0):
            error = "%s ended with %s" % (asked["main"], ended.code)
    except BaseException as raised:  # A user's script may raise anything.
        error = described(raised)
    if not error and not os.path.isfile(OUTPUT):
        error = "%s wrote no file where --output says" % asked["main"]
    if error:
        answer = {"error": error}
    else:
        with open(OUTPUT, "rb") as file:
            answer = {"object": file.read().hex()}
    json.dump(answer, answer_to)
    answer_to.write("\n")
    answer_to.flush()
    os._exit(0)  # What the script registered for the end is not wanted.


main()
