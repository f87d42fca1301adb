"""Where the system forces its colours, what a colour says is still seen, and so is what has been chosen."""

import pytest
from built_book import BOOK_PAGES, load, soup

PAGES = [path for path in BOOK_PAGES if soup(path).select(".afm-view")]

# What has a colour in a widget: grounds and thick borders, those of ::before and ::after too.
COLOURED = """() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const hasColour = (colour) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, opacity] = context.getImageData(0, 0, 1, 1).data;
        return opacity > 40 && Math.max(r, g, b) - Math.min(r, g, b) > 25;
    };
    const coloured = (style) => [
        style.backgroundColor, ...(style.backgroundImage.match(/(rgba?|color|oklab)\\([^)]*\\)/g) ?? []),
        ...["Left", "Top", "Right", "Bottom"].filter((side) => parseFloat(style[`border${side}Width`]) > 2)
            .map((side) => style[`border${side}Color`]),
    ].some(hasColour);
    return [...document.querySelectorAll("[data-widget] *")].flatMap((node, i) => ["", "::before", "::after"]
        .filter((part) => node.checkVisibility() && node.offsetWidth && node.offsetHeight
            && !(part && ["none", "normal"].includes(getComputedStyle(node, part).content))
            && coloured(getComputedStyle(node, part || null)))
        .map((part) => `${i} ${node.tagName}.${node.className}${part}`));
}"""
CHOSEN = """() => [...document.querySelectorAll(".mh-option:has(:checked), .mh-head-cell:has(:checked), .mh [aria-pressed=true]")]
    .filter((node) => node.checkVisibility())
    .map((node) => getComputedStyle(node).outlineStyle)"""
# Words of pictures that cannot be read on the ground of the page, or, over a cell, on the halo around them.
UNREADABLE = """() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const luminance = (colour) => {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    };
    const canvas = getComputedStyle(document.body).backgroundColor;
    const words = [...document.querySelectorAll("[data-widget] svg text")].filter((word) => word.checkVisibility());
    return [words.length, words.filter((word) => {
        const { fill, stroke } = getComputedStyle(word);
        const [dark, light] = [fill, stroke === "none" ? canvas : stroke].map(luminance).sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05) < 4.5;
    }).map((word) => `${word.textContent} .${word.className.baseVal}`)];
}"""


@pytest.fixture
def forced(page):
    yield page
    page.emulate_media(forced_colors="none")


def test_what_has_a_colour_keeps_one_and_the_chosen_has_an_outline(forced):
    page, lost, coloured, chosen = forced, {}, 0, []
    for path in PAGES:
        page.emulate_media(forced_colors="none")
        load(page, path)
        before = page.evaluate(COLOURED)
        page.emulate_media(forced_colors="active")
        coloured += len(before)
        lost[path] = sorted(set(before) - set(page.evaluate(COLOURED)))
        chosen += page.evaluate(CHOSEN)
    assert {path: found for path, found in lost.items() if found} == {} and coloured > 300
    assert len(chosen) >= 20 and set(chosen) == {"solid"}


@pytest.mark.parametrize(("mode", "system"), [("light", "dark"), ("dark", "light")])
def test_words_of_pictures_are_read_on_the_systems_ground_whatever_the_theme(forced, mode, system):
    page, bad, words = forced, {}, 0
    page.emulate_media(forced_colors="active", color_scheme=system)
    load(page, BOOK_PAGES[0])
    page.evaluate("mode => { localStorage.mode = localStorage.theme = mode; }", mode)
    for path in PAGES:
        load(page, path)
        assert page.evaluate("document.documentElement.dataset.theme") == mode
        count, unreadable = page.evaluate(UNREADABLE)
        words += count
        if unreadable:
            bad[path] = unreadable[:4], len(unreadable)
    assert bad == {} and words > 100
