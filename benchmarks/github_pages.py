"""A local server that sends a site as GitHub Pages does: text packed with gzip, kept by the browser for ten minutes."""

import gzip
import threading
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

PACKED = {".css", ".html", ".js", ".json", ".map", ".svg", ".txt", ".xml"}


@cache
def as_sent(path: Path) -> bytes:
    """The body of the answer: what a reader's line has to carry."""
    content = path.read_bytes()
    return gzip.compress(content) if path.suffix in PACKED else content


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open

    def send_head(self):
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            return self.send_error(404)
        body = as_sent(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        if path.suffix in PACKED:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        return BytesIO(body)

    def log_message(self, *args):
        pass


@contextmanager
def serve(folder: Path):
    """The address of ``folder``, for as long as the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
