"""SentenceExplorer on a page of the book, where the reader's browser computes, and in a kernel, where Python does.

The page, the host, the model's files and the worker come from a real server, which can also serve them badly.
"""

import json
import re
import threading
from base64 import b64encode
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy2

import numpy
import pytest
from bert_files import get_model_path, write_model
from find_chromium import FLAGS
from widget_page import HOST, STILL, assert_readable, page_html, tasks_of_threads, use_theme

from multihead.models.bert import load_bert
from multihead.widgets import SentenceExplorer

SCRIPTS = Path(__file__).parents[2] / "site" / "bert"
OWN = "My friend wrote a long letter to her teacher."


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder; `server.faults` says what goes wrong with a file, `server.sent` how much of each was sent."""

    def do_GET(self):
        name = self.path.split("?")[0].removeprefix("/")
        body = (Path(self.directory) / name).read_bytes() if (Path(self.directory) / name).is_file() else b""
        fault = next((fault for part, fault in self.server.faults.items() if part in name), None)
        if fault == "missing" or not body:
            return self.send_error(404)
        if fault == "truncated":
            body = body[:-1000]
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(name))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        for header in self.server.headers.items():
            self.send_header(*header)
        self.end_headers()
        if fault in ("interrupted", "stuck"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if fault == "stuck":
                self.server.go_on.wait(20)
            self.close_connection = True
            return
        self.wfile.write(body)
        self.server.sent[name] = self.server.sent.get(name, 0) + len(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a browser that stops a download hangs up


@pytest.fixture(scope="module")
def bert():
    return load_bert()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_model(get_model_path(), folder / "_static" / "bert")
    for script in ("bert.js", "worker.js"):
        copy2(SCRIPTS / script, folder / "_static" / "bert")
    (folder / "chapters").mkdir()
    copy2(HOST, folder / "chapters")
    return folder


@pytest.fixture(scope="module")
def server(site):
    with Server(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server:
        server.go_on = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.go_on.set()
        server.shutdown()


@pytest.fixture
def open_page(browser, executable, site, server, bert):
    """Opens a page of the book with the widget in it; each test starts with an empty cache and a server in order."""
    contexts = []

    def open_page(address="", bert=bert, init="", expected=(), profile=None, **settings):
        html = page_html([SentenceExplorer(bert, **settings)], STILL, lambda state: None)
        html = html.replace("<html ", '<html data-content_root="../" ')
        (site / "chapters" / "page.html").write_text(html, "utf-8")
        options = {"viewport": {"width": 1000, "height": 900}}
        if profile:
            context = browser.browser_type.launch_persistent_context(
                profile, executable_path=executable, args=FLAGS, **options
            )
        else:
            context = browser.new_context(**options)
        context.problems, context.expected = [], expected
        contexts.append(context)
        context.add_init_script(init)
        page = context.new_page()
        note = context.problems.append
        page.on("console", lambda message: message.type in ("error", "warning") and note(message.text))
        page.on("pageerror", lambda error: note(str(error)))
        page.goto(f"http://127.0.0.1:{server.server_port}/chapters/page.html{address}")
        page.wait_for_selector("[data-widget=SentenceExplorer]")
        return page

    server.faults, server.headers, server.sent = {}, {}, {}
    server.go_on.clear()
    yield open_page
    server.go_on.set()
    problems = [
        problem
        for context in contexts
        for problem in context.problems
        if not any(word in problem for word in context.expected)
    ]
    for context in contexts:
        context.close()
    assert problems == []


def ask(page, text, slot="text"):
    """Opens the field for one's own sentence and computes this one."""
    page.select_option(f"[name={slot}_choice]", "own")
    page.fill(f"[name={slot}]", text)
    page.locator(f"[name={slot}_compute]:enabled", has_text="계산하기").click()


def wait_for_picture(page, text, nth=0):
    page.locator(".mh-picture").nth(nth).get_by_text(text, exact=True).wait_for()


def shows_prepared(page):
    page.select_option("[name=text_choice]", "4")
    wait_for_picture(page, "Mina bought a red apple and ate it slowly.")
    drawn = page.locator(".mh-picture").first.locator(".mh-cell").count() > 0
    return drawn and page.locator("[role=alert]").first.is_hidden()


def model_files(server):
    return {name.rpartition("bert/")[2] for name in server.sent if "/bert/" in name}


# -- what needs no model --------------------------------------------------------------------------------------------


def test_prepared_sentences_answer_at_once_and_load_nothing(open_page, server, bert):
    page = open_page()
    options = page.locator("[name=text_choice] option").all_inner_texts()
    assert len(options) == 7 and options[-1] == "내 문장으로"
    for i, text in enumerate(options[:6]):
        page.select_option("[name=text_choice]", str(i))
        assert page.locator(".mh-sentence-title").first.inner_text() == text
        words = page.locator(".mh-picture").first.locator(".mh-lines text[text-anchor=end]").all_text_contents()
        assert words == bert.attend(text).tokens
    assert model_files(server) == set()


def test_a_head_and_the_special_tokens_change_what_depends_on_them(open_page, bert):
    page = open_page(layer=1, head=3)
    picture = page.locator(".mh-picture").first
    label = picture.locator(".mh-scroll svg")
    before = label.get_attribute("aria-label")
    page.locator("input[value='4-12']").check()
    assert page.locator("[data-out=head]").inner_text() == "4-12"
    attention = bert.attend("The cat sat on the mat because it was tired.")
    weights = attention.map(4, 12)
    row = weights[attention.tokens.index("it")]
    assert f"it → {attention.tokens[row.argmax()]} {row.max():.2f}" in label.get_attribute("aria-label") != before
    cells = picture.locator(".mh-cell").count()
    page.locator("input[name=specials]").uncheck()
    assert picture.locator(".mh-lines text", has_text=re.compile(r"\[(CLS|SEP)\]")).count() == 0
    assert picture.locator(".mh-cell").count() != cells and "그리지 않음" in picture.inner_text()
    share = weights[1:-1, [0, -1]].sum() / 11
    assert f"가중치의 {100 * share:.0f}\u00a0%" in picture.inner_text()
    # The canvases follow.
    assert page.locator("canvas").first.evaluate("canvas => canvas.width") == 11


def test_small_maps_show_the_weights_of_their_heads(open_page, bert):
    page = open_page()
    weights = bert.attend("The cat sat on the mat because it was tired.").weights
    alphas = page.locator("canvas").evaluate_all(
        "all => all.map(canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"
        ".filter((_, i) => i % 4 === 3))"
    )
    assert numpy.allclose(numpy.array(alphas) / 255, weights.reshape(72, -1).numpy(), atol=1.1 / 255)


def test_two_sentences_are_compared_and_the_list_leads_to_the_heads(open_page):
    page = open_page()
    page.select_option("[name=compare_choice]", "1")
    said = page.locator("[data-out=comparison]")
    assert said.inner_text().startswith("바뀐 곳: ‘tired’ → ‘soft’.")
    values = [float(text) for text in page.locator(".mh-cell-value").all_inner_texts()]
    listed = page.locator("button[name=reaction]")
    told = [float(text.split("\n")[1].split()[0]) for text in listed.all_inner_texts()]
    assert told == sorted(values, reverse=True)[:5]
    listed.nth(1).click()
    assert page.locator("[data-out=head]").inner_text() == listed.nth(1).inner_text().split("\n")[0]
    assert listed.nth(1).get_attribute("aria-pressed") == "true"
    marked = page.locator(".mh-lines .is-changed").all_text_contents()
    assert marked == ["tired", "tired", "soft", "soft"]
    page.select_option("[name=compare_choice]", "0")
    assert said.inner_text() == "두 문장의 토큰이 같아서 모든 헤드의 지도도 같습니다." and listed.count() == 0
    page.select_option("[name=compare_choice]", "5")
    assert "견줄 행이 없습니다" in said.inner_text() and listed.count() == 0
    page.select_option("[name=compare_choice]", "")
    assert said.is_hidden() and page.locator(".mh-picture:visible").count() == 1
    assert set(page.locator(".mh-cell-value").all_inner_texts()) == {""}


def test_pointing_and_arrow_keys_tell_a_weight(open_page, bert):
    page = open_page(layer=2, head=9)
    picture = page.locator(".mh-picture").first
    weights = bert.attend("The cat sat on the mat because it was tired.").map(2, 9)
    picture.locator(".mh-scroll svg").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    told = picture.locator("[data-out=pointed]")
    assert told.inner_text() == f"‘cat’ → ‘the’ 가중치 {weights[2, 1]:.2f}"
    assert picture.locator(".is-pointed").count() == 2
    picture.locator(".mh-lines text", has_text="mat").first.hover()
    assert told.inner_text().startswith("‘mat’의 큰 가중치: ") and picture.locator(".mh-link.is-pointed").count() == 13
    page.locator("[name=text_choice]").hover()
    assert picture.locator(".is-pointed").count() == 0


# -- the model in the reader's browser -------------------------------------------------------------------------------

WATCH_PROGRESS = """
    window.progress = [];
    addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
        const bar = document.querySelector("progress:not([hidden])");
        if (bar && bar.value !== progress.at(-1)) progress.push(bar.value);
    }).observe(document.body, { subtree: true, attributes: true, childList: true, characterData: true }));
"""


def test_an_own_sentence_costs_what_was_said(open_page, server, bert):
    page = open_page(init=WATCH_PROGRESS)
    page.select_option("[name=text_choice]", "own")
    button = page.locator("[name=text_compute]")
    button.get_by_text("MB 받고 계산하기").wait_for()
    assert model_files(server) == {"worker.js", "bert.js", "model.json"}  # nothing before the reader agrees
    said = float(button.inner_text().split()[0])
    ask(page, OWN)
    wait_for_picture(page, OWN)
    fixed = server.sent["_static/bert/encoder.bin"] + server.sent["_static/bert/vocab.txt"]
    assert said == pytest.approx(fixed / 1e6, abs=0.051)
    assert sum(server.sent.values()) <= 25_000_000
    progress = page.evaluate("progress")
    assert len(progress) >= 3 and progress == sorted(progress)
    attention = bert.attend(OWN)
    label = page.locator(".mh-scroll svg").first.get_attribute("aria-label")
    for token, row in zip(attention.tokens, attention.map(1, 3), strict=True):
        if row.max() > 0.9:
            assert f"{token} → {attention.tokens[row.argmax()]} {row.max():.2f}" in label

    # A second one loads no more than words that are new.
    before = server.sent["_static/bert/encoder.bin"]
    ask(page, "My friend wrote a short letter to her teacher.", slot="compare")
    page.locator("[data-out=comparison]", has_text="‘long’ → ‘short’").wait_for()
    assert server.sent["_static/bert/encoder.bin"] == before


def test_the_page_stays_responsive_while_it_loads_and_computes(open_page, browser, capsys):
    page = open_page()

    def compute():
        ask(page, OWN)
        wait_for_picture(page, OWN)

    longest = max(tasks_of_threads(browser, page, compute)["CrRendererMain"])
    with capsys.disabled():
        print(f"\nSentenceExplorer, longest task of the page: {longest:.0f} ms")
    assert longest <= 50


def test_the_address_holds_the_sentence_and_the_browser_keeps_the_files(open_page, server, tmp_path):
    page = open_page(profile=tmp_path)  # with an own profile: a private window keeps no file of 18 MB
    assert "#" not in page.url
    page.select_option("[name=text_choice]", "2")
    assert page.url.endswith("#s=The+key+to+the+cabinets+is+on+the+table.")
    text = "Café & <b>\"50%\"</b> #1?"
    ask(page, text)
    wait_for_picture(page, text)
    sent = dict(server.sent)
    page.reload()
    page.wait_for_selector("[data-widget]")
    assert page.locator("[name=text]").input_value() == text
    assert page.locator(".mh-sentence-title:visible").count() == 0  # nothing is loaded unasked
    page.locator("[name=text_compute]", has_text="MB 받고 계산하기").click()
    wait_for_picture(page, text)
    assert server.sent["_static/bert/encoder.bin"] == sent["_static/bert/encoder.bin"]
    assert page.evaluate("history.length") <= 3  # changing sentences adds no entries
    page.evaluate("location.hash = '#s=The+cat+sat+on+the+mat+because+it+was+soft.'")
    wait_for_picture(page, "The cat sat on the mat because it was soft.")
    page.evaluate("location.hash = '#' + encodeURIComponent('다른-제목')")
    assert page.locator(".mh-sentence-title").first.inner_text() == "The cat sat on the mat because it was soft."


def test_every_text_gets_the_answer_that_its_reader_expects(open_page, server):
    page = open_page()
    alert, note = page.locator("[role=alert]").first, page.locator("[data-out=text_note]")
    ask(page, "   ")
    assert "글이 비어 있습니다" in alert.inner_text() and page.locator("[name=text_retry]").is_hidden()
    assert page.locator(".mh-sentence-title:visible").count() == 0
    ask(page, "a " * 70)
    alert.get_by_text("토큰 72개로 나뉘어 한계인 64개를 넘습니다").wait_for()
    assert "encoder.bin" not in model_files(server)
    ask(page, "\u200b\u200b")
    alert.get_by_text("글이 비어 있습니다").wait_for()
    for text, said in [
        ("🙂🙂", "모델이 아는 낱말이 하나도 없어"),
        ("나는 사과를 먹었다", "이 모델의 어휘는 영어입니다"),
        ("I like 🙂", "어휘에 없는 1곳은 [UNK]가 되었습니다"),
    ]:
        ask(page, text)
        wait_for_picture(page, text)
        assert said in note.inner_text() and alert.is_hidden()
    markup = "<img src=x onerror=alert(1)> & <b>bold</b>"
    ask(page, markup)
    wait_for_picture(page, markup)
    assert note.inner_text() == "" and page.locator(".mh img, .mh-picture b").count() == 0
    ask(page, "a " * 62)
    wait_for_picture(page, ("a " * 62).strip())
    assert page.locator("canvas").first.evaluate("canvas => canvas.width") == 64


CAT = "The cat sat on the mat because it was tired."


@pytest.mark.parametrize(
    "text", [f"\u200b{CAT}", CAT.replace(" ", "\u2003"), f"{CAT[:6]}\u2060{CAT[6:]}\u3164", f"{CAT}\ud83d"]
)
def test_the_letters_of_a_prepared_sentence_are_this_sentence_in_every_unicode_form(open_page, server, text):
    page = open_page(text="The key to the cabinets is on the table.")
    page.select_option("[name=text_choice]", "own")
    # Playwright itself sends no lone surrogate.
    page.locator("[name=text]").evaluate(f"(box) => {{ box.value = {json.dumps(text)}; }}")
    page.locator("[name=text_compute]").click()
    wait_for_picture(page, CAT)
    assert page.url.endswith("#s=" + CAT.replace(" ", "+")) and "encoder.bin" not in str(server.sent)


# A syllable of an input method, and Enter: on a Mac the key comes before the syllable is done, and then once more.
COMPOSE = """(box, { before, after }) => {
    const tell = (type, Kind, options) => box.dispatchEvent(new Kind(type, { cancelable: true, ...options }));
    const enter = (isComposing) => tell("keydown", KeyboardEvent, { key: "Enter", isComposing });
    box.value = before;
    tell("compositionstart", CompositionEvent);
    enter(true);
    const asked = location.hash;
    box.value = after;
    tell("compositionend", CompositionEvent);
    enter(false);
    return asked;
}"""


def test_enter_asks_for_the_whole_syllable_once(open_page):
    page = open_page()
    page.select_option("[name=text_choice]", "own")
    box = page.locator("[name=text]")
    assert box.evaluate(COMPOSE, {"before": " 고양", "after": " 고양이"}) == ""
    wait_for_picture(page, "고양이")
    assert box.input_value() == " 고양이" and page.url.endswith("#s=%EA%B3%A0%EC%96%91%EC%9D%B4")


FAULTS = {
    "encoder.bin is missing": ("encoder.bin", "missing", r"찾지 못했습니다\(encoder.bin, 응답 404\)"),
    "encoder.bin is truncated": ("encoder.bin", "truncated", r"온전하지 않아 버렸습니다\(encoder.bin, "),
    "encoder.bin is interrupted": ("encoder.bin", "interrupted", r"연결이 끊겨, 받던 것을 버렸습니다\(encoder.bin\)"),
    "vocab.txt is truncated": ("vocab.txt", "truncated", r"온전하지 않아 버렸습니다\(vocab.txt, "),
    "model.json is truncated": ("model.json", "truncated", r"온전하지 않아 버렸습니다\(model.json, "),
    "a shard is missing": ("embeddings/00", "missing", r"찾지 못했습니다\(embeddings/00\d.bin, "),
    "a shard is truncated": ("embeddings/00", "truncated", r"온전하지 않아 버렸습니다\(embeddings/00\d.bin, "),
}


@pytest.mark.parametrize(("file", "fault", "said"), FAULTS.values(), ids=FAULTS)
def test_what_fails_while_loading_is_told_and_can_be_tried_again(open_page, server, file, fault, said):
    page = open_page(expected=("Failed to load resource",))
    server.faults = {file: fault}
    ask(page, OWN)
    alert = page.locator("[role=alert]").first
    alert.get_by_text(re.compile(said)).wait_for()
    assert page.locator(".mh-sentence-title:visible").count() == 0
    assert page.locator(".mh-waiting:visible").count() == 0
    server.faults = {}
    page.click("[name=text_retry]")
    wait_for_picture(page, OWN)
    assert alert.is_hidden() and shows_prepared(page)


def test_a_download_can_be_stopped_and_started_again(open_page, server):
    page = open_page(expected=("Failed to load resource",))
    server.faults = {"encoder.bin": "stuck"}
    ask(page, OWN)
    page.locator("[data-out=text_status]", has_text="가운데").wait_for()
    page.click("[name=text_cancel]")
    page.locator("[role=alert]", has_text="계산을 그만두었습니다").wait_for()
    server.go_on.set()
    server.faults = {}
    page.click("[name=text_retry]")
    wait_for_picture(page, OWN)


def test_another_choice_stops_a_download(open_page, server):
    page = open_page(expected=("Failed to load resource",))
    server.faults = {"encoder.bin": "stuck"}
    ask(page, OWN)
    page.locator("[data-out=text_status]", has_text="가운데").wait_for()
    assert shows_prepared(page)
    assert page.locator(".mh-waiting:visible").count() == 0


@pytest.mark.parametrize("how", ["no Worker at all", "no worker.js"])
def test_without_a_worker_the_prepared_sentences_still_work(open_page, server, how):
    init = "delete window.Worker;" if how == "no Worker at all" else ""
    page = open_page(init=init, expected=("Failed to load resource",))
    server.faults = {"worker.js": "missing"}
    page.select_option("[name=text_choice]", "own")
    page.locator("[role=alert]", has_text="Web Worker를 열지 못했습니다").wait_for()
    assert page.locator(".mh-sentence-title:visible").count() == 1
    if how == "no worker.js":
        server.faults = {}
        page.click("[name=text_retry]")
        page.locator("[name=text_compute]", has_text="MB 받고").wait_for()
    assert shows_prepared(page)


def test_a_model_that_is_not_in_the_page_is_not_replaced_by_another(open_page, bert, server):
    page = open_page(bert=replace(bert, name="klue/bert-base"))
    ask(page, OWN)
    page.locator("[role=alert]", has_text="파이썬 커널이 있어야").wait_for()
    assert model_files(server) == set() and shows_prepared(page)


def test_the_worker_and_its_files_need_nothing_but_their_own_site(browser, site, server, bert):
    """The widget's own module comes from a blob (afm-host.js), so the worker is asked by a page without a widget."""
    (site / "bare.html").write_text("<!doctype html><link rel=icon href=favicon.png><title>worker</title>", "utf-8")
    (site / "favicon.png").write_bytes(b"png")
    server.faults, server.headers, server.sent = {}, {"Content-Security-Policy": "default-src 'self'"}, {}
    page = browser.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(f"http://127.0.0.1:{server.server_port}/bare.html")
    answer = page.evaluate(
        """text => new Promise((done, failed) => {
            const worker = new Worker("/_static/bert/worker.js", { type: "module" });
            worker.onerror = failed;
            worker.onmessage = ({ data }) => data.total ?? done({ ...data, maps: data.maps && [...data.maps] });
            worker.postMessage({ id: 1, text });
        })""",
        OWN,
    )
    page.close()
    assert refused == []
    attention = bert.attend(OWN)
    assert answer["tokens"] == attention.tokens
    assert abs(numpy.array(answer["maps"]) - attention.weights.flatten().numpy()).max() <= 2e-3


# -- the model in a kernel -------------------------------------------------------------------------------------------

KERNEL = """async (state) => {
    const url = URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    const listening = new Map();
    const emit = (event, ...facts) => [...(listening.get(event) ?? [])].forEach((f) => f(...facts));
    const model = {
        get: (name) => state[name],
        set(name, value) { if (state[name] !== value) { state[name] = value; emit("change"); } },
        save_changes() {},
        on(event, f) { listening.set(event, (listening.get(event) ?? new Set()).add(f)); },
        off(event, f) { listening.get(event).delete(f); },
        async send(content) {
            const [reply, numbers] = JSON.parse(await window.askPython(JSON.stringify(content)));
            const bytes = numbers.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
            emit("msg:custom", reply, bytes.map(({ buffer }) => new DataView(buffer)));
        },
    };
    document.body.innerHTML = "";
    const style = document.createElement("style");
    style.textContent = state._css;
    document.head.append(style);
    window.stop = widget.render({ model, el: document.body });
    window.listening = () => [...listening.values()].reduce((sum, all) => sum + all.size, 0);
}"""


def test_in_a_kernel_python_answers_and_nothing_is_loaded(show, bert, monkeypatch):
    widget = SentenceExplorer(bert)
    sent = []
    monkeypatch.setattr(SentenceExplorer, "send", lambda self, content, buffers=None: sent.append((content, buffers)))

    def ask_python(content):
        widget._handle_custom_msg(json.loads(content), [])
        reply, buffers = sent.pop()
        return json.dumps([reply, [b64encode(buffer).decode() for buffer in buffers]])

    page = show(widget, fresh=True)  # a page that does not say where the book's files lie
    page.expose_function("askPython", ask_python)
    page.evaluate(KERNEL, widget.get_state())
    ask(page, OWN)
    wait_for_picture(page, OWN)
    attention = bert.attend(OWN)
    row = attention.map(1, 3)[2]
    label = page.locator(".mh-picture .mh-scroll svg").first.get_attribute("aria-label")
    assert f"friend → {attention.tokens[row.argmax()]} {row.max():.2f}" in label
    assert page.locator("[data-out=text_cost]").is_hidden() and "#" not in page.url
    ask(page, "a " * 70)
    page.locator("[role=alert]", has_text="토큰 72개로 나뉘어").wait_for()
    assert page.locator(".mh-sentence-title:visible").count() == 0
    page.fill("[name=text]", "나는")
    page.keyboard.press("Enter")
    page.locator("[data-out=text_note]", has_text="어휘는 영어").wait_for()
    page.evaluate("stop()")
    assert page.evaluate("[listening(), document.body.childElementCount]") == [0, 0]


# -- look ------------------------------------------------------------------------------------------------------------


def test_a_phone_does_not_scroll_sideways_and_has_room_for_a_finger(show, bert):
    widget = SentenceExplorer(bert, compare="The cat sat on the mat because it was soft.")
    page = show(widget, viewport={"width": 390, "height": 800})
    page.select_option("[name=text_choice]", "own")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".mh-atlas-grid .mh-scroll").evaluate("node => node.scrollWidth <= node.clientWidth")
    for target in page.locator("select:visible, .mh-head-cell, button:visible, input[type=text]:visible").all():
        box = target.bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes(show, bert, theme):
    page = show(SentenceExplorer(bert, compare="The cat sat on the mat because it was soft."))
    use_theme(page, theme)
    page.select_option("[name=text_choice]", "own")
    page.fill("[name=text]", "")
    page.click("[name=text_compute]")
    assert_readable(page, (".mh-alert:visible", ".mh-button:visible"))
    page.select_option("[name=text_choice]", "0")
    text = (".mh-cell-value", ".mh-axis-label", ".mh-say", ".mh-title:visible", ".mh-best button", ".mh-small:visible")
    assert_readable(page, text)


# -- the built book --------------------------------------------------------------------------------------------------


def test_the_chapter_answers_a_shared_sentence(page):
    page.goto("/chapters/08_bert_heads.html#s=" + OWN.replace(" ", "+"))
    widget = page.locator("[data-widget=SentenceExplorer]")
    widget.wait_for()
    assert widget.locator("[name=text]").input_value() == OWN
    assert widget.evaluate("node => node.getBoundingClientRect().top < innerHeight")
    widget.locator("[name=text_compute]", has_text="MB 받고 계산하기").click()
    wait_for_picture(page, OWN)
