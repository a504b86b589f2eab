"""tapped_server.py PORT FOLDER COMMAND...: a server on PORT whose bytes are kept in FOLDER.

COMMAND is the real server; @port@ in it becomes a free port.
"""

import pathlib
import socket
import subprocess
import sys

import tap

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    free = probe.getsockname()[1]
words = [word.replace(tap.FREE_PORT, str(free)) for word in sys.argv[3:]]
with tap.Tap(free, int(sys.argv[1]), pathlib.Path(sys.argv[2])):
    sys.exit(subprocess.run(words).returncode)
