"""On paper every page is black on white, whatever the screen is."""

import pytest
from built_book import BOOK_PAGES, load

# Texts that cannot be read on what lies behind them, and dark areas, as a printer gets them. Pictures have paper of
# their own; so have iframes, which print what they show.
UNREADABLE = """() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const luminance = (colour, ground = "#fff") => {
        for (const c of [ground, colour]) { context.fillStyle = c; context.fillRect(0, 0, 1, 1); }
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    };
    const clear = (colour) => /^rgba\\(.*, 0\\)$/.test(colour);
    const ground = (node) => {
        for (let n = node; n; n = n.parentElement) {
            const { backgroundColor, backgroundImage } = getComputedStyle(n);
            if (backgroundImage !== "none") return null; // stripes: judged by eye
            if (!clear(backgroundColor)) return backgroundColor;
        }
        return "#fff";
    };
    const bad = new Map();
    const note = (what, node) => bad.set(what, [(bad.get(what)?.[0] ?? 0) + 1, node.outerHTML.slice(0, 80)]);
    for (const node of document.querySelectorAll("body, body *")) {
        if (!node.checkVisibility() || node.closest("dialog, iframe, .mh-spoken")) continue;
        const style = getComputedStyle(node);
        const box = node.getBoundingClientRect();
        if (!clear(style.backgroundColor) && box.width * box.height > 40000 && luminance(style.backgroundColor) < 0.7)
            note(`dark area ${node.className} ${style.backgroundColor}`, node);
        if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || node.closest("svg")) continue;
        const behind = ground(node);
        if (behind === null) continue;
        const [dark, light] = [luminance(style.color, behind), luminance(behind)].sort((a, b) => a - b);
        if ((light + 0.05) / (dark + 0.05) < 4.5) note(`${node.tagName}.${node.className} ${style.color} on ${behind}`, node);
    }
    return [...bad];
}"""


@pytest.mark.parametrize(("mode", "system"), [("light", "light"), ("dark", "light"), ("auto", "dark")])
def test_every_page_prints_black_on_white(page, mode, system):
    page.emulate_media(color_scheme=system)
    load(page, BOOK_PAGES[0])
    page.evaluate("mode => { localStorage.mode = mode; localStorage.theme = mode === 'auto' ? '' : mode; }", mode)
    bad = {}
    for path in BOOK_PAGES:
        load(page, path)
        assert page.evaluate("document.documentElement.dataset.theme") == ("light" if mode == "light" else "dark")
        page.emulate_media(media="print")
        if found := page.evaluate(UNREADABLE):
            bad[path] = found[:6]
        page.emulate_media(media="null")
    assert bad == {}
