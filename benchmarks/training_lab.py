"""TrainingLab's runs in Chromium: five seeds with one head and with two, each alone in its Worker, hence on one core.

    make bench

Prints the share of positions with both answers right after 500 steps, and the seconds that a run takes. The aim: above
0.99 with two heads, below 0.3 with one, at most 40 s. Other work on the machine makes the runs longer.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from multihead.widgets import TrainingLab

sys.path.append(str(Path(__file__).parents[1] / "tests" / "site"))
from find_chromium import FLAGS, find_chromium  # noqa: E402

RUN = """([source, settings]) => new Promise((done, failed) => {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(url, { type: "module" });
    let start;
    worker.onerror = failed;
    worker.onmessage = ({ data: { step, runs } }) => {
        if (step === 0) start = performance.now();
        if (step < 500) return;
        worker.terminate();
        done([runs[0].both, (performance.now() - start) / 1000]);
    };
    worker.postMessage({ id: 1, settings: [settings] });
    worker.postMessage({ running: true });
})"""


def main():
    source = TrainingLab().get_state()["_worker"]
    executable = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page()
        page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page.goto("http://bench.test/")  # an empty tab has no origin, and hence no Worker
        print(f"Chromium {browser.version}, d_model = 32")
        print(f"{'seed':>5}{'h':>4}{'both right':>12}{'seconds':>9}")
        for seed in range(5):
            for h in (1, 2):
                settings = {"h": h, "d_model": 32, "learning_rate": 0.003, "seed": seed, "scaling": True}
                both, seconds = page.evaluate(RUN, [source, settings])
                print(f"{seed:>5}{h:>4}{both:>12.4f}{seconds:>9.1f}")
        browser.close()


if __name__ == "__main__":
    main()
