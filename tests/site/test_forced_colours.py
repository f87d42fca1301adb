"""Where the system forces its colours, what a colour says is still seen, and so is what has been chosen."""

from built_book import BOOK_PAGES, load, soup

MARKS = """.mh-chip, .mh-norm i, .mh-bar, .mh-swatch, .mh-queries i, .mh-kv, .mh-lab-cells i, .mh-lane, .mh-lab-key i,
    .mh-bias, .mh-run-swatch"""
LOST = """(marks) => [...document.querySelectorAll(marks)].filter((node) => node.checkVisibility() && node.offsetWidth)
    .filter((node) => {
        const { backgroundColor, backgroundImage, forcedColorAdjust } = getComputedStyle(node);
        return forcedColorAdjust !== "none" || (backgroundImage === "none" && backgroundColor === "rgba(0, 0, 0, 0)");
    }).map((node) => node.className)"""
CHOSEN = """() => [...document.querySelectorAll(".mh-option:has(:checked), .mh-head-cell:has(:checked), .mh [aria-pressed=true]")]
    .filter((node) => node.checkVisibility())
    .map((node) => [node.outerHTML.slice(0, 60), getComputedStyle(node).outlineStyle])"""


def test_marks_keep_their_colours_and_the_chosen_has_an_outline(page):
    page.emulate_media(forced_colors="active")
    lost, chosen = {}, {}
    for path in BOOK_PAGES:
        if not soup(path).select(".afm-view"):
            continue
        load(page, path)
        lost[path] = page.evaluate(LOST, MARKS)
        chosen[path] = page.evaluate(CHOSEN)
    page.emulate_media(forced_colors="none")
    assert {path: found for path, found in lost.items() if found} == {}
    outlines = [style for found in chosen.values() for _, style in found]
    assert len(outlines) >= 20 and set(outlines) == {"solid"}
