"""A server of OpenAI's interface that behaves as its first argument says.

bad_server.py MODE PORT_FILE [UPSTREAM_PORT]: writes its port to PORT_FILE once it listens.
"""

import gzip
import itertools
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

MODE = sys.argv[1]
ANSWERED = itertools.count()
UPSTREAM = int(sys.argv[3]) if len(sys.argv) > 3 else 0


def read_request(peer):
    data = b""
    while b"\r\n\r\n" not in data:
        part = peer.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += peer.recv(65536)
    return head, body


def delta(text, index=0, finish=None):
    return {"object": "chat.completion.chunk", "choices": [
        {"index": index, "delta": {"content": text}, "finish_reason": finish}]}


def usage(tokens):
    return {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": tokens}}


def data(value, end="\n\n"):
    return ("data: " + (value if isinstance(value, str) else json.dumps(value)) + end).encode()


def events(mode):
    words = [delta(" a"), delta(" b"), delta(" c", finish="stop")]
    if mode == "crlf":
        return b"".join(data(w, "\r\n\r\n") for w in words) + data(usage(3), "\r\n\r\n") + \
            data("[DONE]", "\r\n\r\n")
    if mode == "comments":
        return b": ping\n\n" + b"".join(b": ping\n" + data(w) for w in words) + data(usage(3)) + \
            data("[DONE]")
    if mode == "no_final_newline":
        return b"".join(map(data, words)) + data(usage(3)) + b"data: [DONE]"
    if mode == "no_usage":
        return b"".join(map(data, words)) + data("[DONE]")
    if mode == "usage_first":
        return data(usage(3)) + b"".join(map(data, words)) + data("[DONE]")
    if mode == "odd_usage":
        return b"".join(map(data, words)) + data(usage("3")) + data("[DONE]")
    if mode == "no_done":
        return b"".join(map(data, words)) + data(usage(3))
    if mode == "interleaved":
        return b"".join(data(delta(w, i, f)) for w, f in ((" a", None), (" b", "stop"))
                        for i in (0, 1)) + data(usage(4)) + data("[DONE]")
    if mode == "lies":
        return b"".join(map(data, words)) + data(usage(2)) + data("[DONE]")
    if mode == "error_frame":
        return data(delta(" a")) + data({"error": {"message": "the model fell over"}}) + \
            data("[DONE]")
    if mode == "inflates":
        return b"".join(map(data, words)) + data(usage(2 ** 63 - 1)) + data("[DONE]")
    if mode == "only_done":
        return data("[DONE]")
    if mode == "one_of_two":  # Says twice that the same choice is finished.
        return b"".join(map(data, words)) + data(delta("", finish="stop"))
    if mode == "endless":  # In one event, so that it is quick.
        return data('{"choices":[' + ",".join(["{}"] * (2 ** 20 + 1)) + "]}")
    if mode == "early_end":
        return data(delta(" a"))
    if mode == "bad_json":
        return data(delta(" a")) + b"data: {\n\n" + data("[DONE]")
    if mode == "huge_event":
        return data(delta(" a" * 500000)) + data(delta("", finish="stop")) + data(usage(3)) + \
            data("[DONE]")
    return b"".join(map(data, words)) + data(usage(3)) + data("[DONE]")


def chunked(body):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def answer(status, headers, body):
    head = "HTTP/1.1 %s\r\n" % status + "".join("%s: %s\r\n" % h for h in headers)
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def serve(peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        request = read_request(peer)
        if request is None:
            return
        if b"/tokenize" in request[0]:
            peer.sendall(answer("404 Not Found", [], b"{}"))
            continue
        if MODE == "slowly_ready" and request[0].startswith(b"GET"):
            time.sleep(0.7)
            found = b"/models" in request[0]
            peer.sendall(answer("200 OK" if found else "404 Not Found", [], b"{}"))
            continue
        if MODE == "stall":
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n")
            time.sleep(3600)
        elif MODE == "no_http":
            peer.sendall(b"SSH-2.0-OpenSSH\r\n")
        elif MODE == "hangs_up":
            return
        elif MODE == "busy":
            peer.sendall(answer("429 Too Many Requests", [("Retry-After", "1")],
                                b'{"error":{"message":"slow down"}}'))
        elif MODE == "busy_often" and next(ANSWERED) % 2:
            peer.sendall(answer("429 Too Many Requests", [], b'{"error":{"message":"later"}}'))
        elif MODE == "busy_twice" and next(ANSWERED) < 2:
            peer.sendall(answer("429 Too Many Requests", [("Retry-After", "0.2")],
                                b'{"error":{"message":"slow down"}}'))
        elif MODE == "redirect":
            peer.sendall(answer("307 Temporary Redirect", [("Location", "/elsewhere")], b""))
        elif MODE == "gzip":
            body = gzip.compress(events("plain"))
            peer.sendall(answer("200 OK", [("Content-Type", "text/event-stream"),
                                           ("Content-Encoding", "gzip")], body))
        elif MODE == "wrong_type":
            peer.sendall(answer("200 OK", [("Content-Type", "text/html")], b"<html>"))
        elif MODE == "reset":
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n5\r\nda")
            return
        elif MODE == "closes":
            body = events("plain")
            peer.sendall(answer("200 OK", [("Content-Type", "text/event-stream"),
                                           ("Connection", "close")], body))
            return
        elif MODE == "closes_silently":
            peer.sendall(answer("200 OK", [("Content-Type", "text/event-stream")],
                                events("plain")))
            return
        elif MODE == "echo":
            keys = request[0].decode().lower()
            ok = "authorization: bearer hunter2" in keys
            peer.sendall(answer("200 OK" if ok else "401 Unauthorized",
                                [("Content-Type", "text/event-stream"), ("Server", "of hunter2")],
                                events("plain") if ok else
                                b'{"error":{"message":"no such key: hunter3"}}'))
        else:
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n" + chunked(events(MODE)))


def split(peer):
    """Forwards, and sends each byte of the answer by itself."""
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    up = socket.create_connection(("127.0.0.1", UPSTREAM))

    def ask():
        while part := peer.recv(65536):
            up.sendall(part)
        up.close()

    threading.Thread(target=ask, daemon=True).start()
    while part := up.recv(65536):
        for i in range(len(part)):
            peer.sendall(part[i:i + 1])


def certificate(folder):
    """A key and a certificate of its own for 127.0.0.1."""
    names = [os.path.join(folder, name) for name in ("cert.pem", "key.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-out", names[0], "-keyout", names[1]], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return names


def handle(peer):
    try:
        if TLS:
            peer = TLS.wrap_socket(peer, server_side=True)
        with peer:
            (split if MODE == "split" else serve)(peer)
    except OSError:
        pass


TLS = None
if MODE == "tls":
    TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    TLS.load_cert_chain(*certificate(os.path.dirname(sys.argv[2])))
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
with open(sys.argv[2] + ".new", "w") as file:
    file.write("%d\n" % listener.getsockname()[1])
os.rename(sys.argv[2] + ".new", sys.argv[2])
while True:
    threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()
