"""TLS ahead of a server on this machine: tls_front.py PORT_OF_SERVER PORT_FILE.

Beside PORT_FILE lies cert.pem, of a certificate for 127.0.0.1 that nobody else trusts.
"""

import os
import socket
import ssl
import subprocess
import sys
import threading

server, port_file = int(sys.argv[1]), sys.argv[2]
cert, key = (os.path.join(os.path.dirname(port_file), name) for name in ("cert.pem", "key.pem"))
subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1",
                "-out", cert, "-keyout", key], check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)


def forward(peer):
    """One request and its answer."""
    try:
        with context.wrap_socket(peer, server_side=True) as near:
            with socket.create_connection(("127.0.0.1", server)) as far:
                def ask():
                    try:
                        while part := near.recv(65536):
                            far.sendall(part)
                    except OSError:
                        pass
                threading.Thread(target=ask, daemon=True).start()
                while part := far.recv(65536):
                    near.sendall(part)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0))
with open(port_file + ".new", "w", encoding="utf-8") as file:
    file.write("%d\n" % listener.getsockname()[1])
os.rename(port_file + ".new", port_file)
while True:
    threading.Thread(target=forward, args=(listener.accept()[0],), daemon=True).start()
