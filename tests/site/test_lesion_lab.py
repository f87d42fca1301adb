"""LesionLab on a static page: compose a sentence, mask a token, switch heads off, and nothing stale stays."""

import pytest
from widget_page import assert_readable, choose, out, render_and_remove, use_theme

from multihead.models.grammar import IT, Clause, Sentence
from multihead.widgets import LesionLab

LETTER = Sentence((Clause("할머니", "편지", "어제", order=("subject", "time", "object")),))
TWO = Sentence((Clause("할머니", "편지", "어제", "혼자"), Clause("동생", IT, "내일", "몰래")), "다")


def shown_answers(root):
    return {out(root, f"answer_{i}"): out(root, f"probability_{i}") for i in range(5)}


def as_shown(lab):
    return {form: f"{100 * p:.1f} %" for form, p in lab.answers.items()}


def pick(root, name, word):
    root.locator(f"select[name={name}]").select_option(word)


def test_every_control_changes_what_it_says_and_the_answers_are_pythons(show):
    page = show(LesionLab(sentence=LETTER, masked=5))
    lab = LesionLab(sentence=LETTER, masked=5)
    assert shown_answers(page) == as_shown(lab) and out(page, "written") == "할머니가 어제 편지를 읽으셨다."
    assert "이 세계의 정답입니다" in out(page, "summary") and "‘편지’에 달려" in out(page, "summary")

    # Heads: with all of them off the answer is wrong, and the maps are still there.
    for layer in (1, 2):
        for head in (1, 2, 3, 4):
            page.locator(f"[name=head_{layer}-{head}]").uncheck()
    lab.off = [(layer, head) for layer in (1, 2) for head in (1, 2, 3, 4)]
    assert shown_answers(page) == as_shown(lab)
    assert out(page, "answered") != out(page, "written") and "이 세계의 정답은 ‘읽’입니다" in out(page, "summary")
    cells = page.locator(".mh-lab-row .mh-lab-cells").nth(1).locator("i")
    opacities = cells.evaluate_all("cells => cells.map(cell => Number(cell.style.opacity))")
    assert opacities == pytest.approx(lab.maps[0, 0, 5].tolist(), abs=1e-3)
    page.locator("[name=all_on]").click()
    lab.off = []
    assert shown_answers(page) == as_shown(lab) and page.locator("[name^=head_]:checked").count() == 8

    # Words: the verb, the honorific and the tense follow, the mask stays on the verb.
    pick(page, "object_0", "우산")
    pick(page, "time_0", "다음 주에")
    pick(page, "subject_0", "동생")
    pick(page, "manner_0", "몰래")
    assert out(page, "written") == "동생이 다음 주에 우산을 몰래 쓸 것이다."
    page.locator("[name=earlier_object_0]").click()
    page.locator("[name=earlier_object_0]").click()
    order = ("object", "subject", "time", "manner")
    lab.sentence = Sentence((Clause("동생", "우산", "다음 주에", "몰래", order),))
    lab.masked = 6
    assert out(page, "written") == lab.sentence.surface == "우산을 동생이 다음 주에 몰래 쓸 것이다."
    assert shown_answers(page) == as_shown(lab) and page.locator("[name=masked]:checked").get_attribute("value") == "6"
    assert page.evaluate("document.activeElement.name") == "earlier_object_0"

    # Clauses, and another token under the mask.
    choose(page, "shape", "다")
    assert out(page, "written").count(".") == 2 and IT in out(page, "written")
    assert page.locator("[name=masked]").count() == 19 and page.locator("select[name=object_1]").input_value() == IT
    choose(page, "masked", "15")
    assert "동사" in out(page, "summary") and "16번째 토큰" in out(page, "summary")
    choose(page, "shape", "고")
    assert IT not in out(page, "written") and page.locator("fieldset.mh-clause").count() == 2
    choose(page, "shape", "one")
    assert page.locator("[name=masked]").count() == 10


def test_what_is_no_sentence_is_explained_and_nothing_stale_stays(show):
    page = show(LesionLab(sentence=TWO, masked=16))
    alert = page.get_by_role("alert")
    for name, said in (
        ("subject_0", "1번째 절에 주어가 없습니다"), ("object_0", "목적어가 없습니다"), ("time_1", "2번째 절에 시간 부사가 없습니다"),
    ):  # fmt: skip
        kept = page.locator(f"select[name={name}]").input_value()
        pick(page, name, "")
        assert said in alert.inner_text()
        assert page.locator("[data-out=written], [data-out=answer_0], [name=masked]").count() == 0
        assert page.locator("[data-out=summary]").text_content() == ""
        pick(page, name, kept)
        assert alert.count() == 0 and out(page, "written") == TWO.surface
    choose(page, "shape", "three")
    assert "절이 3개이면 토큰이" in alert.inner_text() and "토큰 20개까지만" in alert.inner_text()
    choose(page, "shape", "다")
    assert alert.count() == 0 and out(page, "written").count(".") == 2


def test_two_widgets_on_one_page_are_independent(show):
    page = show(LesionLab(sentence=LETTER, masked=5), LesionLab(sentence=TWO, masked=3))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = second.inner_html(), second.locator("input:checked").count()
    first.locator("[name=head_2-1]").uncheck()
    choose(first, "masked", "0")
    pick(first, "time_0", "곧")
    assert (second.inner_html(), second.locator("input:checked").count()) == before
    assert out(first, "written") == "할머니가 곧 편지를 읽으실 것이다."


def test_keyboard_touch_words_and_both_themes(show):
    page = show(LesionLab(sentence=TWO, masked=16), viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for target in page.locator("input:not([type=radio]), select, button, .mh-option").all():
        box = target.bounding_box()
        if target.get_attribute("type") == "checkbox":  # drawn small in a large label
            box = target.locator("xpath=ancestor::label").bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40, target.get_attribute("name")
    page.locator("[name='head_1-1']").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert "헤드 1-1, 1-2를 끈 채" in out(page, "summary")
    assert page.locator("[aria-live=polite]").inner_text() == out(page, "summary")
    labels = page.locator("[role=img]").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert len(labels) == 16 and all(label.startswith("헤드 ") for label in labels)
    for theme in ("light", "dark"):
        use_theme(page, theme)
        assert_readable(page, (".mh-lab-name", ".mh-small", ".mh-lab-token span", ".mh-answer b", ".mh-lab-line span", ".mh-label"))


def test_the_widget_cleans_up_after_itself(show):
    page = show(LesionLab())
    assert render_and_remove(page, LesionLab()) == [[1, 1], [0, 0]]
