#!/usr/bin/env python3
"""A server of bad downloads: the first component of a path says what is wrong with the answer. Prints its URL. With the
files of a certificate and its key it speaks TLS; PLAIN is the URL of another one without; LISTEN is its address."""
import ctypes
import http.server
import os
import signal
import ssl
import sys

BODY = b"0123456789abcde\n" * 6400
OTHER = b"fedcba987654321\n" * 6400
PAGE = b"<!doctype html><html><body>Please log in.</body></html>\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", length=None, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if length != "none":
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        kind, _, rest = self.path[1:].partition("/")
        if kind.isdigit():
            return self.answer(int(kind))
        do = getattr(self, "send_" + kind.replace("-", "_"), None)
        return do(rest) if do else self.answer(200, BODY)

    def send_416_of_7(self, _):
        self.answer(416, Content_Range="bytes */7")

    def send_too_short(self, _):
        self.close_connection = True
        self.answer(200, BODY, len(BODY) + 1)

    def send_large(self, _):
        self.answer(200, BODY * 40)

    def send_endless(self, _):
        self.close_connection = True
        self.answer(200, length="none")
        try:
            while True:
                self.wfile.write(BODY)
        except OSError:
            pass

    def send_login(self, _):
        self.answer(200, PAGE, Content_Type="text/html; charset=utf-8")

    def send_loop(self, rest):
        self.answer(302, Location="/loop/x" + rest)

    def send_itself(self, rest):
        self.answer(302, Location=self.path)

    def send_plain(self, rest):
        self.answer(302, Location=os.environ.get("PLAIN", "") + "/good/a.bin")

    def send_other(self, _):
        self.answer(200, OTHER)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """A client that goes away is no error here."""


# It ends with the script that started it (PR_SET_PDEATHSIG).
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
server = Server((os.environ.get("LISTEN", "127.0.0.1"), 0), Handler)
scheme = "http"
if len(sys.argv) > 1:
    scheme, context = "https", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"{scheme}://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
