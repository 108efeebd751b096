"""git over HTTP: a small test server in front of `git http-backend`."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers through CGI. `root`, `password` (None: no authentication) and `stalls` are attributes of the server."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self) -> None:
        body = self._body()
        if self.server.stalls:
            time.sleep(60)
        wanted = self.server.password
        given = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if wanted is not None and given != f"ada:{wanted}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environ = os.environ | {
            "GIT_PROJECT_ROOT": str(self.server.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "ada", "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, env=environ, capture_output=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [line.decode().split(": ", 1) for line in head.split(b"\r\n")]
        status = next((value for name, value in headers if name == "Status"), "200")
        self.send_response(int(status.split()[0]))
        for name, value in headers:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    """A server for the repositories below `root`."""

    daemon_threads = True

    def __init__(self, root: Path, password: str | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root, self.password, self.stalls = root, password, False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(root: Path, password: str | None = None) -> Iterator[Server]:
    """Run the server, and yield it."""
    server = Server(root, password)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
