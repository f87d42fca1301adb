"""What each page costs a reader on a phone, beside the same page built with Jupyter Book's defaults.

    make bench

*critical* and *total* are defined in page_weight.py, in KB (1000 bytes). The rest is Lighthouse's: a slow phone on a slow
line, simulated; the median of RUNS runs, times in seconds, scores of at most 100. Other work on the machine makes its
processor look slower, so Lighthouse's own measure of the machine is printed too (1000 and more is a quiet one).
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from github_pages import serve
from jupyter_book_defaults import build_defaults, file_of_cdn
from page_weight import PHONE, file_below, weigh
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "site"), str(ROOT / "tests" / "site")]
from built_book import BOOK_PAGES, SITE  # noqa: E402
from find_chromium import FLAGS, find_chromium  # noqa: E402
from node import NODE  # noqa: E402

RUNS = 3
LIGHTHOUSE = ROOT / "benchmarks" / "node_modules" / "lighthouse" / "cli" / "index.js"
METRICS = {
    "first paint": "first-contentful-paint",
    "largest": "largest-contentful-paint",
    "blocking": "total-blocking-time",
    "shift": "cumulative-layout-shift",
}
SCORES = {"speed": "performance", "access": "accessibility", "practice": "best-practices"}


def weights(browser, site, cdn):
    """{page: (critical KB, total KB)} of a built site; what it would load from CDNs comes from npm, below ``cdn``."""

    def file_of(url):
        return file_below(site, url) if url.startswith(origin) else file_of_cdn(url, cdn)

    def is_foreign(url):
        return not url.startswith(origin)

    weighed = {}
    with serve(site) as origin:
        for path in BOOK_PAGES:
            context = browser.new_context(viewport=PHONE)
            context.route(is_foreign, lambda route: route.fulfill(path=file_of(route.request.url)))
            weighed[path] = [sum(sizes.values()) / 1000 for sizes in weigh(context.new_page(), f"{origin}/{path}", file_of)]
            context.close()
    return weighed


def lighthouse(address, chromium):
    """One run: {column: number}."""
    command = [NODE, LIGHTHOUSE, address, "--quiet", "--output=json", f"--chrome-flags=--headless {' '.join(FLAGS)}"]
    command += [f"--only-categories={','.join(SCORES.values())}"]
    run = subprocess.run(command, env=os.environ | {"CHROME_PATH": chromium}, check=True, capture_output=True, text=True)
    report = json.loads(run.stdout)
    numbers = {column: report["audits"][audit]["numericValue"] for column, audit in METRICS.items()}
    numbers |= {column: 100 * report["categories"][category]["score"] for column, category in SCORES.items()}
    return numbers | {"machine": report["environment"]["benchmarkIndex"]}


def median_of_runs(address, chromium):
    runs = [lighthouse(address, chromium) for _ in range(RUNS)]
    return {column: statistics.median(run[column] for run in runs) for column in runs[0]}


def print_weights(chromium):
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        (packages := Path(folder, "npm")).mkdir()
        ours, theirs = weights(browser, SITE, packages), weights(browser, build_defaults(Path(folder)), packages)
        browser.close()
    print(f"{'KB':<36}{'critical':>9}{'defaults':>9}{'total':>9}{'defaults':>9}")
    for path in BOOK_PAGES:
        (critical, total), (their_critical, their_total) = ours[path], theirs[path]
        print(f"{path:<36}{critical:>9.0f}{their_critical:>9.0f}{total:>9.0f}{their_total:>9.0f}")


def print_lighthouse(chromium):
    print("\n" + " " * 36 + "".join(f"{column:>12}" for column in (*METRICS, *SCORES, "machine")))
    with serve(SITE) as origin:
        for path in BOOK_PAGES:
            row = median_of_runs(f"{origin}/{path}", chromium)
            for column in ("first paint", "largest", "blocking"):
                row[column] /= 1000
            digits = {"shift": 3, "blocking": 2, "first paint": 2, "largest": 2}
            print(f"{path:<36}" + "".join(f"{number:>12.{digits.get(name, 0)}f}" for name, number in row.items()), flush=True)


def main():
    chromium = find_chromium()
    print_weights(chromium)
    print_lighthouse(chromium)


if __name__ == "__main__":
    main()
