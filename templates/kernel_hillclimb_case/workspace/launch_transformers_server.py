#!/usr/bin/env python3
"""Starts `transformers serve` for this case's model, waits until it answers, and ends with it.

launch_transformers_server.py --port PORT [--port-file FILE] [--ready-timeout S] [-- COMMAND...]

For case.yaml: server: {backend: process, command: [python3, workspace/launch_transformers_server.py,
--port, "{port}"]}. COMMAND stands for another server; {port} in it is the port. The device is the
one of CUDA_VISIBLE_DEVICES, which `assay` sets; on a CPU it is unset. The server dies with us.
"""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def default_command(port):
    model = os.environ.get("ASSAY_MODEL")
    if not model:
        sys.exit("launch_transformers_server: ASSAY_MODEL names the model's folder; "
                 "`assay serve --case` sets it")
    if shutil.which("transformers") is None:
        print("launch_transformers_server: there is no program 'transformers': "
              "pip install 'transformers[serving]'", file=sys.stderr)
        sys.exit(4)
    device = "cuda" if os.environ.get("CUDA_VISIBLE_DEVICES") else "cpu"
    return ["transformers", "serve", model, "--device", device, "--host", "127.0.0.1", "--port",
            str(port)]


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code == 404  # It has no such path, and answers.
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--port-file")
    parser.add_argument("--ready-timeout", type=float, default=600)
    parser.add_argument("command", nargs="*")
    asked = parser.parse_args()
    command = [word.replace("{port}", str(asked.port)) for word in asked.command]
    command = command or default_command(asked.port)
    server = subprocess.Popen(command, preexec_fn=die_with_parent)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.terminate())
    deadline = time.monotonic() + asked.ready_timeout
    while server.poll() is None and not answers(asked.port):
        if time.monotonic() > deadline:
            server.kill()
            sys.exit(f"launch_transformers_server: not ready after {asked.ready_timeout} s")
        time.sleep(0.1)
    if asked.port_file and server.poll() is None:
        with open(asked.port_file + ".new", "w", encoding="utf-8") as file:
            file.write(f"{asked.port}\n")
        os.replace(asked.port_file + ".new", asked.port_file)
    return server.wait()


if __name__ == "__main__":
    sys.exit(main())
