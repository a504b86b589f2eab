#!/usr/bin/env python3
"""Builds this workspace's backend and serves the case with it: the flags of `assay lab serve`."""

import os
import pathlib
import subprocess
import sys

WORKSPACE = pathlib.Path(__file__).resolve().parent


def main():
    built = subprocess.run([WORKSPACE / "scripts" / "build.sh"], check=False)
    if built.returncode != 0:
        print("serve_custom_backend: the workspace does not build", file=sys.stderr)
        return 4
    assay = os.environ.get("ASSAY", "assay")
    os.execvp(assay, [assay, "serve", "--case", str(WORKSPACE.parent), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
