"""Everybody can read and use every page: axe-core's rules, the keyboard alone, and twice the size.

Each page of the book is opened once for all claims about it.
"""

import pytest
from built_book import ALL_PAGES, ROOT, WIDE, load

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text("utf-8")
# bertviz draws inside iframes; its page is not ours, and a picture and its description stand beside it.
RULES = """async () => {
    const { violations } = await axe.run(document, { iframes: false, resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) => nodes.map((n) => `${id}: ${help}: ${n.target} ${n.html}`));
}"""
# Text that reads worse than 4.5 : 1 on its ground, of any size; axe grants large text less.
FAINT = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = (rgb) => {
        const linear = (v) => v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
        const [r, g, b] = rgb.map(linear);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255];
    };
    const found = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        const text = walker.currentNode.data.trim();
        if (!text || e.closest("svg, .afm-view, .katex-mathml, a.headerlink, noscript")) continue;
        if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        const [a, b] = [rgba(getComputedStyle(e).color), ground(e)].map((c) => light(c.slice(0, 3)));
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.add(`${contrast.toFixed(2)} ${e.className}: ${text.slice(0, 20)}`);
    }
    return [...found];
}"""
# What the keyboard must reach in widget number i. A group of radio buttons is one stop, as is a grid of cells.
STOPS = """(i) => {
    const controls = [...document.querySelectorAll("[data-widget]")[i].querySelectorAll(
        "input, select, button, summary, a[href], [tabindex='0']")];
    const usable = controls.filter((e) => !e.disabled && e.checkVisibility({ visibilityProperty: true })
        && (e.matches("input, select") || e.tabIndex >= 0));
    return [...new Set(usable.map((e) => e.type === "radio" ? `radio ${e.name}` : controls.indexOf(e)))];
}"""
FOCUS = """(i) => {
    const widget = document.querySelectorAll("[data-widget]")[i], e = document.activeElement;
    if (!widget.contains(e)) return null;
    const controls = [...widget.querySelectorAll("input, select, button, summary, a[href], [tabindex='0']")];
    const label = ["radio", "checkbox"].includes(e.type) ? e.closest("label") : null;
    const rings = [e, e.nextElementSibling, label].filter(Boolean).map((node) => getComputedStyle(node));
    const seen = rings.some(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && outlineWidth !== "0px");
    return [e.type === "radio" ? `radio ${e.name}` : controls.indexOf(e), seen];
}"""
# Text that a box cuts off, and controls that stick out of the screen.
CUT_OFF = """() => {
    const cut = [...document.querySelectorAll("article :not(.math, .katex *)")].filter((e) => {
        const style = getComputedStyle(e);
        return style.overflowX === "hidden" && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1
            && e.checkVisibility() && e.innerText?.trim();
    });
    const outside = [...document.querySelectorAll("[data-widget] :is(input, select, button)")].filter((e) => {
        const { left, right, width } = e.getBoundingClientRect();
        return width > 1 && e.checkVisibility() && (left < 0 || right > innerWidth);
    });
    return [...cut, ...outside].map((e) => e.outerHTML.slice(0, 200));
}"""


@pytest.mark.parametrize("path", ALL_PAGES)
def test_axe_finds_nothing_the_keyboard_reaches_everything_and_twice_the_size_fits(page, path):
    page.emulate_media(reduced_motion="reduce")
    load(page, path)
    page.evaluate(AXE)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(RULES) == [], theme
        assert page.evaluate(FAINT) == [], theme

    for i in range(page.locator("[data-widget]").count()):
        stops, reached = set(page.evaluate(STOPS, i)), set()
        first = page.locator("[data-widget]").nth(i).locator("input:visible, select:visible, button:visible").first
        first.focus()
        while focus := page.evaluate(FOCUS, i):
            stop, seen = focus
            assert seen, f"the focus on {stop} of widget {i} does not show"
            assert stop not in reached, f"the keyboard goes round in widget {i}"
            reached.add(stop)
            page.keyboard.press("Tab")
        assert reached == stops

    page.set_viewport_size({"width": WIDE // 2, "height": 450})  # as a browser's zoom of 200 % does it
    assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(CUT_OFF) == []
