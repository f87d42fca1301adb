"""From an input on a widget to the end of the frame that shows its result, in Chromium, on a page without a kernel.

    make bench

The lower quartile, the median and the worst of 60 inputs, in ms. A frame of 60 a second has 16.7 ms. Other work on the
machine makes all of these longer, the lower quartile least.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from multihead.models.grammar import IT, Clause, Sentence
from multihead.models.neighbours import NeighbourModel, train
from multihead.widgets import (
    AttentionPlayground,
    HeadSplitter,
    KVCacheCalculator,
    LesionLab,
    ParameterCounter,
    Timelapse,
)

sys.path.append(str(Path(__file__).parents[1] / "tests" / "site"))
from find_chromium import FLAGS, find_chromium  # noqa: E402
from widget_page import open_page, show_in  # noqa: E402

TWELVE_WORDS = "나는 어제 시장에서 산 빨간 사과를 맛있게 먹었다 그것은 정말 달고 시원했다"
TWO_CLAUSES = Sentence((Clause("할머니", "편지", "어제", "혼자"), Clause("동생", IT, "내일", "몰래")), "다")
TIMES = """async ([selector, values]) => {
    const control = document.querySelector(selector);
    const times = [];
    for (let i = 0; i < 60; i++) {
        // As real input does: handled at the start of a frame, painted at its end.
        await new Promise((done) => requestAnimationFrame(() => {
            const start = performance.now();
            if (control.type === "checkbox") control.click();
            else {
                control.value = values[i % values.length];
                control.dispatchEvent(new Event("input"));
            }
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => done(times.push(performance.now() - start));
            port2.postMessage(null);
        }));
    }
    times.sort((a, b) => a - b);
    return [times[15], times[30], times.at(-1)];
}"""


def cases():
    """(what is shown, the widget, the control that moves, its values)."""
    for step in ("view", "wrong"):
        widget = HeadSplitter(h=8, d_model=512, T=16, step=step)
        yield f"HeadSplitter, {step}, d_model 512, h 8, T 16", widget, "[name=h]", [4, 8]
    for name, values in (("seed", [1, 2]), ("d_model", [32, 64]), ("h", [4, 8])):
        widget = AttentionPlayground(sentence=TWELVE_WORDS, h=8, d_model=64)
        yield f"AttentionPlayground, 12 words, {name}", widget, f"[name={name}]", values
    yield "ParameterCounter, d_model 512, h 8, T 16", ParameterCounter(d_model=512, T=16), "[name=h]", [4, 8]
    yield "KVCacheCalculator, h 32, g 8", KVCacheCalculator(), "[name=g]", [4, 8]
    runs = [train(NeighbourModel(h, seed=0), seed=0, steps=20, record_at=[0, 10, 20]) for h in (1, 2, 4, 8)]
    yield "Timelapse, 15 maps of 16 x 16", Timelapse(runs), "[name=step]", [0, 1, 2]
    lab = LesionLab(sentence=TWO_CLAUSES, masked=16)
    yield f"LesionLab, {len(TWO_CLAUSES.tokens)} tokens, a head switched", lab, "[name='head_2-1']", []


def main():
    executable = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        print(f"Chromium {browser.version}, ms")
        print(f"{'':<48}{'quartile':>9}{'median':>9}{'worst':>9}")
        for label, widget, control, values in cases():
            page = open_page(browser.new_context(viewport={"width": 900, "height": 900}))
            show_in(page, [widget])
            times = page.evaluate(TIMES, [control, values])
            print(f"{label:<48}" + "".join(f"{time:>9.1f}" for time in times), flush=True)
            page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
