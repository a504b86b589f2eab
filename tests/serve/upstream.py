"""A server that misbehaves as it is told: upstream.py PORT MODE."""

import http.server
import json
import os
import subprocess
import sys

PORT, MODE = int(sys.argv[1]), sys.argv[2]

# Frames as no serialiser of ours would write them: they must come back byte for byte.
FRAMES = [b'data: {"choices" : [ ] ,"odd":"\\u00e9\xc3\xa9"}\n\n', b": ping\n\n", b"data: x\n\n",
          b"data: [DONE]\n\n"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def whole(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            return self.whole(503 if MODE == "never_ready" else 200, b"{}")
        self.whole(500, b"no models here")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if MODE == "garbage":
            return self.wfile.write(b"what is HTTP?\r\n\r\n")
        asked = json.loads(body)
        if not asked.get("stream"):
            return self.whole(418, json.dumps({"asked": asked, "id": self.headers["X-Request-Id"]}).encode())
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        frames = FRAMES
        if MODE == "dies":
            frames = FRAMES[:1]
        if MODE == "dies_in_a_frame":
            frames = [FRAMES[0][:-5]]
        for frame in frames:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
            self.wfile.flush()
        if MODE.startswith("dies"):
            print("the weights are on fire", flush=True)
            os._exit(7)
        self.wfile.write(b"0\r\n\r\n")


if MODE == "cannot_load":
    print("there are no weights \x1b[31m in this file", file=sys.stderr)
    sys.exit(3)
if MODE == "tree":
    # A daemon, in a session of its own, as engines leave behind.
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    with open("daemon", "w", encoding="utf-8") as file:
        file.write(f"{child.pid}\n")
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
