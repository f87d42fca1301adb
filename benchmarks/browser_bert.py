"""One sentence in BERT: the JavaScript of site/bert/ in Chromium beside torch with one thread, the same model.

    make bench

The median of 21 runs after 5 to warm up, in ms; the browser's in a module Worker, as on the page. The aim is at most
60 ms for 12 tokens and 150 ms for 32. Other work on the machine makes all of these longer.
"""

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory

import torch
from playwright.sync_api import sync_playwright

from multihead.models.bert import load_bert
from multihead.notebook import interleaved_medians
from multihead.notebook.surroundings import quieten_transformers

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "site"), str(ROOT / "tests" / "site")]
from bert_files import get_model_path, write_model  # noqa: E402
from find_chromium import FLAGS, find_chromium  # noqa: E402

TOKENS = (12, 32, 64)
RUNS, WARM_UP = 21, 5
WORKER = """
import { attend, embeddingRows, readModel } from "./bert.js";
const load = async (name) => (await fetch(name)).arrayBuffer();
const config = JSON.parse(new TextDecoder().decode(await load("model.json")));
const model = readModel(config, new Uint16Array(await load("encoder.bin")));
const files = new Map([[0, new Uint16Array(await load("embeddings/000.bin"))]]);
addEventListener("message", ({ data: { tokens, runs, warmUp } }) => {
    const words = embeddingRows(Array.from({ length: tokens }, (_, i) => i + 1), files, model);
    const times = Array.from({ length: warmUp + runs }, () => {
        const start = performance.now();
        attend(words, model);
        return performance.now() - start;
    });
    postMessage(times.slice(warmUp).sort((a, b) => a - b)[runs >> 1]);
});
postMessage("ready");
"""


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def in_the_browser():
    """Median ms for each number of tokens, and the browser's version."""
    with TemporaryDirectory() as folder:
        write_model(get_model_path(), Path(folder))
        copy2(ROOT / "site" / "bert" / "bert.js", folder)
        Path(folder, "bench.js").write_text(WORKER)
        Path(folder, "index.html").write_text("<!doctype html>")
        executable = find_chromium()
        handler = partial(Handler, directory=folder)
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            times = page.evaluate(
                """async ([all, runs, warmUp]) => {
                    const worker = new Worker("bench.js", { type: "module" });
                    const answer = () => new Promise((done, failed) => {
                        worker.onmessage = ({ data }) => done(data);
                        worker.onerror = failed;
                    });
                    await answer();
                    const times = [];
                    for (const tokens of all) {
                        worker.postMessage({ tokens, runs, warmUp });
                        times.push(await answer());
                    }
                    return times;
                }""",
                [TOKENS, RUNS, WARM_UP],
            )
            version = browser.version
            browser.close()
            server.shutdown()
    return times, version


@torch.inference_mode()
def in_torch():
    """Median ms for each number of tokens."""
    torch.set_num_threads(1)
    model = load_bert().model
    calls = {}
    for tokens in TOKENS:
        ids = torch.arange(1, tokens + 1)[None]
        calls[tokens] = lambda ids=ids: model(input_ids=ids, output_attentions=True)
    return [1000 * seconds for seconds in interleaved_medians(calls, rounds=RUNS).values()]


def main():
    quieten_transformers()
    browser, version = in_the_browser()
    print(f"Chromium {version}, torch {torch.__version__} with one thread; median of {RUNS}, ms")
    print(f"{'tokens':>7}{'browser':>10}{'torch':>10}{'ratio':>8}")
    for tokens, ours, theirs in zip(TOKENS, browser, in_torch(), strict=True):
        print(f"{tokens:>7}{ours:>10.0f}{theirs:>10.0f}{ours / theirs:>8.1f}")


if __name__ == "__main__":
    main()
