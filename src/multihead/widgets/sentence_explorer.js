// SentenceExplorer: a sentence of the reader's own, and what every head of a real BERT does with it.
//
// On a page of the book the model runs in the reader's browser (site/bert/worker.js), in a kernel Python answers.

import {
    checkControl, element, escapeHtml, formatNumber, HEAD_COLOURS, headGrid, headStyle, refresh, selectControl,
    tokenWidth, unpackWeights, textBox,
} from "./core.js";
import { normalizeText } from "./text.js";

const SETTINGS = ["text", "compare", "layer", "head", "specials"];
const OWN = "own";
const MOST_LISTED = 5;

// ---- attention of one sentence: { tokens, layers, heads, weights }, weights (layers, heads, T, T) ------------------

// Those of the prepared sentences, by their text.
export function readRecorded({ layers, heads, sentences }, packed) {
    const all = unpackWeights(packed);
    let start = 0;
    return new Map(sentences.map(({ text, tokens }) => {
        const weights = all.subarray(start, (start += layers * heads * tokens.length ** 2));
        return [text, { tokens, layers, heads, weights }];
    }));
}

// The map (T, T) of one head, as rows.
export function mapOf({ tokens, heads, weights }, layer, head) {
    const T = tokens.length;
    const start = ((layer - 1) * heads + head - 1) * T * T;
    return tokens.map((_, query) => weights.subarray(start + query * T, start + (query + 1) * T));
}

const isSpecial = (token) => ["[CLS]", "[SEP]", "[PAD]"].includes(token);
const isWord = (token) => !isSpecial(token) && /[\p{L}\p{N}]/u.test(token);
// The tokens that are drawn; all of them if none would be left.
function shownTokens(tokens, specials) {
    const words = tokens.flatMap((token, i) => (isSpecial(token) ? [] : [i]));
    return specials || !words.length ? tokens.map((_, i) => i) : words;
}

// ---- two sentences: the same numbers as matched_tokens and head_reactions in Python ---------------------------------

export function matchedTokens(first, second) {
    const shorter = Math.min(first.length, second.length);
    let start = 0;
    while (start < shorter && first[start] === second[start]) start++;
    let end = 0;
    while (end < shorter - start && first.at(-1 - end) === second.at(-1 - end)) end++;
    return first.flatMap((_, i) => {
        if (i < start) return [[i, i]];
        return i < first.length - end ? [] : [[i, second.length - first.length + i]];
    });
}

// Total variation between two rows; the keys without a partner count as one key.
function rowChange(a, b, pairs) {
    let [sum, rest] = [0, 0];
    for (const weight of a) rest += weight;
    for (const weight of b) rest -= weight;
    for (const [k, l] of pairs) {
        sum += Math.abs(a[k] - b[l]);
        rest -= a[k] - b[l];
    }
    return (sum + Math.abs(rest)) / 2;
}

// Every head with its reaction and the query of `first` whose row changes most; null if no word is in both sentences.
export function headReactions(first, second) {
    const pairs = matchedTokens(first.tokens, second.tokens);
    const rows = pairs.filter(([query]) => isWord(first.tokens[query]));
    if (!rows.length) return null;
    return Array.from({ length: first.layers * first.heads }, (_, i) => {
        const [layer, head] = [Math.floor(i / first.heads) + 1, (i % first.heads) + 1];
        const [a, b] = [mapOf(first, layer, head), mapOf(second, layer, head)];
        const changes = rows.map(([i, j]) => rowChange(a[i], b[j], pairs));
        const change = Math.max(...changes);
        return {
            layer, head, reaction: changes.reduce((x, y) => x + y) / rows.length,
            query: rows[changes.indexOf(change)][0], change,
        };
    });
}

// ---- numbers and sentences -----------------------------------------------------------------------------------------

const decimal = (number) => number.toFixed(2);
const percent = (share) => `${(100 * share).toFixed(0)}\u00a0%`;
const quoted = (word) => `‘${word}’`;
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)}\u00a0MB`;

// What was not answered, and why.
export function failureText({ kind, ...facts }) {
    return {
        empty: () => "글이 비어 있습니다. 한 글자 이상 쓰십시오.",
        too_long: () => `글이 토큰 ${formatNumber(facts.count)}개로 나뉘어 한계인 ${formatNumber(facts.most)}개를 넘습니다. 글을 줄이십시오.`,
        missing: () => `모델 파일을 서버에서 찾지 못했습니다(${facts.file}, 응답 ${facts.status}). 잠시 뒤에 다시 시도하십시오.`,
        truncated: () => `받은 모델 파일이 온전하지 않아 버렸습니다(${facts.file}, ${formatNumber(facts.bytes)}바이트` +
            `${facts.expected ? `, 원래는 ${formatNumber(facts.expected)}바이트` : ""}). 다시 시도하십시오.`,
        interrupted: () => `모델 파일을 받다가 연결이 끊겨, 받던 것을 버렸습니다(${facts.file}). 연결을 확인하고 다시 시도하십시오.`,
        cancelled: () => "계산을 그만두었습니다. 다시 시도하거나 준비된 문장을 고르십시오.",
        no_worker: () => "이 브라우저에서는 모델을 돌릴 수 없습니다(Web Worker를 열지 못했습니다). 준비된 문장은 그대로 볼 수 있습니다.",
        other_model: () => "이 모델은 파이썬 커널이 있어야 계산합니다. 이 페이지에서는 준비된 문장만 볼 수 있습니다.",
        fault: () => `계산하다가 오류가 났습니다: ${facts.message}`,
    }[kind]();
}
const canRetry = ({ kind }) => !["empty", "too_long", "other_model"].includes(kind);

// What the reader should know about a text that was answered.
export function vocabularyNote({ tokens }) {
    const words = tokens.filter((token) => !isSpecial(token));
    const unknown = words.filter((token) => token === "[UNK]").length;
    if (words.some((token) => /[\u1100-\u11ff]/.test(token))) {
        return "이 모델의 어휘는 영어입니다. 한글은 자음과 모음으로 부서지거나 [UNK]가 되므로, 이 지도로 한국어 문장을 말할 수 없습니다.";
    }
    if (words.length && unknown === words.length) {
        return "모델이 아는 낱말이 하나도 없어 모두 [UNK]가 되었습니다. 어휘에 없는 글자는 무엇을 쓰든 같은 지도가 됩니다.";
    }
    return unknown ? `어휘에 없는 ${formatNumber(unknown)}곳은 [UNK]가 되었습니다.` : "";
}

function specialText({ tokens }, map, specials) {
    const words = tokens.flatMap((token, i) => (isSpecial(token) ? [] : [i]));
    if (!words.length) return "";
    let sum = 0;
    for (const query of words) map[query].forEach((weight, key) => { if (isSpecial(tokens[key])) sum += weight; });
    return `낱말 토큰은 가중치의 ${percent(sum / words.length)}를 특수 토큰에 줍니다${specials ? "." : "(그리지 않음)."}`;
}

function describeMap({ tokens }, map, shown, name) {
    const rows = shown.map((query) => {
        const key = shown.reduce((best, other) => (map[query][other] > map[query][best] ? other : best));
        return `${tokens[query]} → ${tokens[key]} ${decimal(map[query][key])}`;
    });
    return `헤드 ${name}의 어텐션 지도. 행마다 가장 큰 가중치: ${rows.join(", ")}`;
}

function describePointed({ tokens }, map, shown, { query, key }) {
    if (key !== undefined) return `${quoted(tokens[query])} → ${quoted(tokens[key])} 가중치 ${decimal(map[query][key])}`;
    const order = [...shown].sort((a, b) => map[query][b] - map[query][a]).slice(0, 3);
    const told = order.map((key) => `${quoted(tokens[key])} ${decimal(map[query][key])}`);
    return `${quoted(tokens[query])}의 큰 가중치: ${told.join(", ")}`;
}

// What the two sentences do not share, and what that does to the heads.
export function comparison(first, second) {
    const pairs = matchedTokens(first.tokens, second.tokens);
    const rest = ({ tokens }, side) => tokens.filter((_, i) => !pairs.some((pair) => pair[side] === i)).join(" ");
    const [from, to] = [rest(first, 0), rest(second, 1)];
    if (!from && !to) return { text: "두 문장의 토큰이 같아서 모든 헤드의 지도도 같습니다.", reactions: null };
    const reactions = headReactions(first, second);
    if (!reactions) return { text: "두 문장의 처음과 끝에 같은 낱말이 없어 견줄 행이 없습니다.", reactions };
    const change = from && to ? `${quoted(from)} → ${quoted(to)}` : from ? `${quoted(from)} 빠짐` : `${quoted(to)} 더해짐`;
    return { text: `바뀐 곳: ${change}. 숫자는 바뀌지 않은 낱말의 행이 달라진 정도로, 0이면 그대로이고 1이면 겹치는 데가 없습니다.`, reactions };
}

// ---- pictures: SVG text, the same for the widget and for the still -------------------------------------------------

const LEVELS = 50;

// One path for all weights that look alike: 64 tokens have 4,096 of them, too many for elements of their own.
function paths(map, shown, attribute, name, draw) {
    const levels = new Map();
    shown.forEach((query, i) => shown.forEach((key, j) => {
        const level = Math.round(map[query][key] * LEVELS);
        if (level) levels.set(level, (levels.get(level) ?? "") + draw(i, j));
    }));
    const path = ([level, d]) => `<path class="${name}" ${attribute}="${level / LEVELS}" d="${d}"/>`;
    return [...levels].map(path).join("");
}

const LINE = 22;
const GAP = 130;
const widest = (tokens, shown) => Math.min(120, Math.max(...shown.map((i) => tokenWidth(tokens[i])))) + 10;
const wordClass = (changed, i) => `mh-word ${changed.has(i) ? "is-changed" : ""}`;

function linesLayout(tokens, shown) {
    const label = widest(tokens, shown);
    return { label, width: 2 * label + GAP, height: shown.length * LINE, y: (i) => (i + 0.5) * LINE };
}

// Queries on the left, keys on the right, as in bertviz.
function linesMarkup({ tokens }, map, shown, changed) {
    const { label, y } = linesLayout(tokens, shown);
    const right = label + GAP;
    const words = shown.map((token, i) => [[label - 6, "end"], [right + 6, "start"]].map(([x, anchor]) =>
        `<text class="${wordClass(changed, token)}" x="${x}" y="${y(i)}" dy="0.35em" text-anchor="${anchor}">` +
        `${escapeHtml(tokens[token])}</text>`).join(""));
    return words.join("") +
        paths(map, shown, "stroke-opacity", "mh-link", (i, j) => `M${label},${y(i)}L${right},${y(j)}`);
}

function mapLayout(tokens, shown, width) {
    const label = widest(tokens, shown);
    const cell = Math.max(12, Math.min(24, Math.floor((width - label - 4) / shown.length)));
    return { label, cell, width: label + shown.length * cell + 2, height: label + shown.length * cell + 2 };
}

function mapMarkup({ tokens }, map, shown, changed, { label, cell }) {
    const size = shown.length * cell;
    const words = shown.map((token, i) => {
        const at = label + (i + 0.5) * cell;
        const text = `dy="0.35em">${escapeHtml(tokens[token])}</text>`;
        return `<text class="${wordClass(changed, token)}" x="${label - 6}" y="${at}" text-anchor="end" ${text}` +
            `<text class="${wordClass(changed, token)}" transform="translate(${at},${label - 6}) rotate(-90)" ${text}`;
    });
    return `<rect class="mh-ground" x="${label - 1}" y="${label - 1}" width="${size + 1}" height="${size + 1}"/>` +
        words.join("") + paths(map, shown, "fill-opacity", "mh-cell", (i, j) =>
            `M${label + j * cell},${label + i * cell}h${cell - 1}v${cell - 1}h${1 - cell}z`);
}

const svgAttributes = ({ width, height }) =>
    ({ viewBox: `0 0 ${width} ${height}`, width: String(width), height: String(height) });

// The tokens of `first` and of `second` that the other sentence does not have.
function changedTokens(first, second) {
    if (!second) return [new Set(), new Set()];
    const pairs = matchedTokens(first.tokens, second.tokens);
    return [first, second].map(({ tokens }, side) =>
        new Set(tokens.flatMap((_, i) => (pairs.some((pair) => pair[side] === i) ? [] : [i]))));
}

const strongestReactions = (reactions) => [...reactions].sort((a, b) => b.reaction - a.reaction).slice(0, MOST_LISTED);

function reactionMarkup({ layer, head, reaction, query, change }, { tokens }) {
    return `<span class="mh-row-name">${layer}-${head}</span><span class="mh-track"><span class="mh-bar" ` +
        `style="width:${(100 * reaction).toFixed(1)}%"></span></span><span class="mh-row-text">${decimal(reaction)} ` +
        `<span class="mh-small">${escapeHtml(quoted(tokens[query]))} 행 ${decimal(change)}</span></span>`;
}

// ---- who computes a sentence ----------------------------------------------------------------------------------------

class Failure extends Error {
    constructor(facts) {
        super(facts.kind);
        this.facts = facts;
    }
}

// Each of the models below has: answers (text -> attention), mustLoad (a download comes first),
// ask(text, { signal, progress }), close().

// The model of the page's own files, in a Worker. One for all widgets of the page, and what it answered is kept.
let browserModel = null;

function openBrowserModel(address) {
    const pending = new Map(); // id -> { resolve, reject, progress }
    let worker = null;
    let next = 0;

    function start() {
        worker = new Worker(address, { type: "module" });
        worker.onmessage = ({ data: { id, error, loaded, total, ...answer } }) => {
            const { resolve, reject, progress } = pending.get(id) ?? {};
            if (!resolve) return; // the last bytes of what has failed already
            if (total !== undefined) return progress?.(loaded, total);
            pending.delete(id);
            return error ? reject(new Failure(error)) : resolve(answer);
        };
        worker.onerror = (event) => {
            event.preventDefault();
            worker.terminate();
            worker = null; // the next question starts another one
            for (const { reject } of pending.values()) reject(new Failure({ kind: "no_worker" }));
            pending.clear();
        };
    }

    function send(message, { signal, progress } = {}) {
        return new Promise((resolve, reject) => {
            try {
                if (!worker) start();
            } catch {
                return reject(new Failure({ kind: "no_worker" }));
            }
            const id = next++;
            pending.set(id, { resolve, reject, progress });
            worker.postMessage({ id, ...message });
            signal?.addEventListener("abort", () => worker?.postMessage({ id, cancel: true }));
        });
    }

    const self = {
        answers: new Map(), mustLoad: true, bytes: null,
        async ask(text, options) {
            const { tokens, layers, heads, maps } = await send({ text }, options);
            self.mustLoad = false;
            return { tokens, layers, heads, weights: maps };
        },
        async measure() { self.bytes = (await send({ size: true })).bytes; },
        close() {}, // stays for the other widgets of the page
    };
    return self;
}

// The model of the kernel, asked by custom messages.
function openKernelModel(model, { layers, heads }) {
    const pending = new Map();
    const receive = ({ id, tokens, error }, [buffer] = []) => {
        const { resolve, reject } = pending.get(id) ?? {};
        if (!pending.delete(id)) return; // asked by another view, or no longer wanted
        if (error) return reject(new Failure(error));
        const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).slice();
        resolve({ tokens, layers, heads, weights: new Float32Array(bytes.buffer) });
    };
    model.on("msg:custom", receive);
    return {
        answers: new Map(), mustLoad: false,
        ask: (text, { signal }) => new Promise((resolve, reject) => {
            const id = Math.random().toString(36).slice(2);
            pending.set(id, { resolve, reject });
            signal.addEventListener("abort", () => {
                pending.delete(id);
                reject(new Failure({ kind: "cancelled" }));
            });
            model.send({ id, text });
        }),
        close: () => model.off("msg:custom", receive),
    };
}

// A page whose model is another one than that of its files.
const noModel = {
    answers: new Map(), mustLoad: false, ask: () => Promise.reject(new Failure({ kind: "other_model" })), close() {},
};

// ---- live widget ---------------------------------------------------------------------------------------------------

function render({ model, el }) {
    const recorded = model.get("_recorded");
    const prepared = readRecorded(recorded, model.get("_weights"));
    const read = () => Object.fromEntries(SETTINGS.map((name) => [name, model.get(name)]));
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };
    const root = document.documentElement.dataset.content_root; // a page of the book has it, a notebook has not
    const onPage = root !== undefined;
    const source = !onPage ? openKernelModel(model, recorded)
        : !recorded.packaged ? noModel
        : (browserModel ??= openBrowserModel(new URL(`${root}_static/bert/worker.js`, document.baseURI)));
    const find = (text) => prepared.get(text) ?? source.answers.get(text);

    // ---- one sentence: prepared or the reader's own, with what its computation takes ----

    function createSlot({ name, label, none }) {
        let own = false; // the field for the reader's own sentence is open
        let shownText = null;
        let request = null; // { text, controller, loaded, total }
        let failure = null; // { text, facts, retry }

        const select = selectControl({
            name: `${name}_choice`, label,
            options: [
                ...(none ? [["", none]] : []), ...recorded.sentences.map(({ text }, i) => [i, text]), [OWN, "내 문장으로"],
            ],
            change: (value) => {
                own = value === OWN;
                failure = null;
                if (own) return update();
                set({ [name]: value === "" ? "" : recorded.sentences[value].text });
                update(); // also where the text is the one from before
            },
        });
        const input = textBox({ name, lang: "en", enter: () => submit() });
        const pushButton = (action, text, onclick) =>
            element("button", { type: "button", class: "mh-button", name: `${name}_${action}`, onclick }, text);
        const button = pushButton("compute", "", () => submit());
        button.classList.add("is-main");
        const cost = element("p", { class: "mh-small", "data-out": `${name}_cost` });
        const panel = element("div", { class: "mh-own" },
            element("label", {}, element("span", { class: "mh-label" }, "내 문장(영어)"), input.box), button, cost);
        const bar = element("progress", { "aria-label": "내려받은 양" });
        const status = element("p", { class: "mh-small", role: "status", "data-out": `${name}_status` });
        const cancel = pushButton("cancel", "그만두기", () => request?.controller.abort());
        const waiting = element("div", { class: "mh-waiting" }, bar, status, cancel);
        const alert = element("p", { class: "mh-alert", role: "alert" });
        const retry = pushButton("retry", "다시 시도", () => failure?.retry());
        const note = element("p", { class: "mh-note", role: "status", "data-out": `${name}_note` });
        const node = element("div", {}, select.node, panel, waiting, alert, retry, note);

        function submit() {
            const text = normalizeText(input.box.value);
            failure = text === "" ? { text: read()[name], facts: { kind: "empty" } } : null;
            if (text !== "") {
                set({ [name]: text });
                if (!find(text)) start(text);
            }
            update();
        }

        async function start(text) {
            if (request?.text === text) return;
            request?.controller.abort();
            failure = null;
            const mine = request = { text, controller: new AbortController() };
            const settle = (result) => {
                if (request !== mine) return; // another sentence is wanted by now
                request = null;
                failure = result;
                update();
            };
            try {
                const progress = (loaded, total) => { Object.assign(mine, { loaded, total }); showWaiting(); };
                source.answers.set(text, await source.ask(text, { signal: mine.controller.signal, progress }));
                settle(null);
            } catch (error) {
                const facts = error instanceof Failure ? error.facts : { kind: "fault", message: error.message };
                settle({ text, facts, retry: () => { start(text); update(); } });
            }
        }

        async function measure() {
            source.measuring = true;
            try {
                await source.measure();
            } catch ({ facts }) {
                const again = () => { failure = null; measure(); update(); };
                // If a sentence is being asked, that one will tell.
                if (!request && !failure) failure = { text: read()[name], facts, retry: again };
            }
            source.measuring = false;
            update();
        }

        function showWaiting() {
            waiting.hidden = request === null;
            if (!request) return;
            const { loaded, total } = request;
            bar.hidden = !total;
            if (total) Object.assign(bar, { max: total, value: loaded });
            refresh(status, {}, !onPage ? "파이썬이 계산하고 있습니다. 커널이 꺼져 있으면 답이 오지 않습니다."
                : total && loaded < total ? `${megabytes(total)} 가운데 ${megabytes(loaded)}를 받았습니다.`
                : "계산하고 있습니다.");
        }

        // Draws the controls; returns the attention if there is one.
        function show(text) {
            const index = recorded.sentences.findIndex((one) => one.text === text);
            if (index === -1 && text !== "") own = true;
            select.select.value = own ? OWN : String(none && text === "" ? "" : index);
            if (text !== shownText) {
                shownText = text;
                input.show(text);
                if (request && request.text !== text) {
                    request.controller.abort();
                    request = null;
                }
            }
            panel.hidden = !own;
            const attention = find(text);
            if (failure && failure.text !== text) failure = null;
            if (!attention && text !== "" && !source.mustLoad && !request && !failure) start(text);
            const unknown = source.mustLoad && source.bytes === null;
            if (own && unknown && !source.measuring && !request && !failure) measure();
            showWaiting();
            button.disabled = request !== null;
            refresh(button, {}, source.mustLoad && source.bytes ? `${megabytes(source.bytes)} 받고 계산하기` : "계산하기");
            refresh(cost, {}, !source.mustLoad ? "" : source.bytes === null ? "모델의 크기를 확인하고 있습니다."
                : `모델 ${megabytes(source.bytes)}를 처음 한 번 받고, 문장마다 낱말의 임베딩 1~3 MB를 더 받습니다. ` +
                    "계산은 이 브라우저가 하고, 글은 어디에도 보내지 않습니다.");
            cost.hidden = cost.textContent === "";
            alert.hidden = retry.hidden = failure === null;
            refresh(alert, {}, failure ? failureText(failure.facts) : "");
            if (failure && !canRetry(failure.facts)) retry.hidden = true;
            refresh(note, {}, attention && !failure ? vocabularyNote(attention) : "");
            return failure && failure.facts.kind === "empty" ? undefined : attention;
        }
        return { node, show, stop: () => request?.controller.abort() };
    }

    const slots = {
        text: createSlot({ name: "text", label: "문장" }),
        compare: createSlot({ name: "compare", label: "견줄 문장", none: "견주지 않음" }),
    };
    const specials = checkControl({
        name: "specials", label: "특수 토큰 보이기", change: (value) => set({ specials: value }),
    });

    // ---- the grid: every head's map, small ----

    const choose = (layer, head) => set({ layer, head });
    const grid = headGrid({ ...recorded, chosen: read, choose });
    for (const { face } of grid.cells.flat()) {
        face.append(element("canvas", { class: "mh-mini" }), element("span", { class: "mh-cell-value" }));
    }
    let drawn = null; // what the small maps show
    function drawGrid(attention, { specials }) {
        if (drawn?.attention === attention && drawn.specials === specials) return;
        drawn = { attention, specials };
        const { tokens } = attention;
        const shown = shownTokens(tokens, specials);
        const colours = getComputedStyle(form);
        grid.cells.forEach((row, l) => row.forEach(({ face }, i) => {
            const canvas = face.firstChild;
            canvas.width = canvas.height = shown.length;
            const pixels = new ImageData(shown.length, shown.length);
            const colour = parseInt(colours.getPropertyValue(`--head-${i % HEAD_COLOURS}`).trim().slice(1), 16);
            const map = mapOf(attention, l + 1, i + 1);
            let at = 0;
            for (const query of shown) {
                for (const key of shown) {
                    pixels.data.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255 * map[query][key]], at);
                    at += 4;
                }
            }
            canvas.getContext("2d").putImageData(pixels, 0, 0);
        }));
    }

    // ---- the chosen head: lines and map of a sentence ----

    function createPicture() {
        const title = element("p", { class: "mh-title mh-sentence-title" });
        const special = element("p", { class: "mh-small" });
        const lines = element("div", { class: "mh-map mh-lines" });
        const map = element("div", { class: "mh-map mh-scroll" });
        lines.innerHTML = '<svg role="img"></svg>'; // createElement makes no SVG
        map.innerHTML = '<svg role="img" tabindex="0"></svg>';
        const [lineSvg, mapSvg] = [lines.firstChild, map.firstChild];
        const told = element("p", { class: "mh-small", "aria-live": "polite", "data-out": "pointed" });
        const node = element("div", { class: "mh-picture" },
            title, special, element("div", { class: "mh-attend" }, lines, map), told);
        let now = null; // { attention, rows, shown, layout }

        function point(pointed) {
            for (const marked of node.querySelectorAll(".is-pointed")) marked.remove();
            lines.classList.toggle("is-dimmed", Boolean(pointed));
            refresh(told, {}, pointed ? describePointed(now.attention, now.rows, now.shown, pointed)
                : "토큰이나 칸을 가리키면 가중치를 보입니다. 왼쪽과 행이 쿼리, 오른쪽과 열이 키입니다.");
            now.pointed = pointed;
            if (!pointed) return;
            const { attention, rows, shown, layout } = now;
            const { label, y } = linesLayout(attention.tokens, shown);
            const from = shown.indexOf(pointed.query);
            const links = shown.map((key, j) => pointed.key !== undefined && key !== pointed.key ? "" :
                `<path class="mh-link is-pointed" d="M${label},${y(from)}L${label + GAP},${y(j)}" ` +
                `stroke-opacity="${decimal(Math.max(rows[pointed.query][key], 0.02))}"/>`);
            lineSvg.insertAdjacentHTML("beforeend", links.join(""));
            const [at, count] = pointed.key === undefined ? [0, shown.length] : [shown.indexOf(pointed.key), 1];
            const place = (i) => layout.label + i * layout.cell - 0.5;
            mapSvg.insertAdjacentHTML("beforeend", '<rect class="mh-related is-pointed" ' +
                `x="${place(at)}" y="${place(from)}" width="${count * layout.cell}" height="${layout.cell}"/>`);
        }
        // Where in the drawing the pointer is.
        const position = (event, svg) => {
            const { left, top, width } = svg.getBoundingClientRect();
            const scale = svg.viewBox.baseVal.width / width;
            return [(event.clientX - left) * scale, (event.clientY - top) * scale];
        };
        lines.addEventListener("pointermove", (event) => {
            const query = now.shown[Math.floor(position(event, lineSvg)[1] / LINE)];
            point(query === undefined ? null : { query });
        });
        map.addEventListener("pointermove", (event) => {
            const { label, cell } = now.layout;
            const [key, query] = position(event, mapSvg).map((at) => now.shown[Math.floor((at - label) / cell)]);
            point(query === undefined ? null : { query, key });
        });
        for (const part of [lines, map]) part.addEventListener("pointerleave", () => point(null));
        map.addEventListener("keydown", (event) => {
            const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
            if (!move) return;
            event.preventDefault();
            const { shown, pointed } = now;
            const step = (token, by) => shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(token) + by))];
            point({ query: step(pointed?.query ?? shown[0], move[0]), key: step(pointed?.key ?? shown[0], move[1]) });
        });

        function show(attention, text, { layer, head, specials }, changed, width) {
            const rows = mapOf(attention, layer, head);
            const shown = shownTokens(attention.tokens, specials);
            const layout = mapLayout(attention.tokens, shown, width);
            now = { attention, rows, shown, layout };
            node.style.cssText = headStyle(head - 1);
            refresh(title, {}, text);
            refresh(special, {}, specialText(attention, rows, specials));
            const described = describeMap(attention, rows, shown, `${layer}-${head}`);
            refresh(mapSvg, { ...svgAttributes(layout), "aria-label": described });
            refresh(lineSvg, {
                ...svgAttributes(linesLayout(attention.tokens, shown)),
                "aria-label": `같은 가중치를 선으로 그린 그림. ${described}`,
            });
            lineSvg.innerHTML = linesMarkup(attention, rows, shown, changed);
            mapSvg.innerHTML = mapMarkup(attention, rows, shown, changed, layout);
            point(null);
            return described;
        }
        return { node, show };
    }

    const pictures = [createPicture(), createPicture()];
    const headline = element("strong", { "data-out": "head" });
    const compared = element("p", { class: "mh-say", "data-out": "comparison" });
    const list = element("ol", { class: "mh-best", "data-out": "reactions" });
    const listTitle = element("p", { class: "mh-title" }, "바뀐 낱말에 가장 크게 반응한 헤드");
    const spoken = element("p", { class: "mh-spoken", "aria-live": "polite" });
    const results = element("div", {}, grid.node, element("div", { class: "mh-reactions" }, compared, listTitle, list),
        element("p", { class: "mh-say mh-atlas-title" }, "헤드 ", headline), ...pictures.map(({ node }) => node));
    const form = element("form", {
        class: "mh", "data-widget": "SentenceExplorer", "aria-label": "문장 탐험",
        onsubmit: (event) => event.preventDefault(),
    }, element("div", { class: "mh-controls is-paired" }, slots.text.node, slots.compare.node),
    specials.node, results, spoken);

    let width = 400;
    function update() {
        const state = read();
        const first = slots.text.show(state.text);
        const second = slots.compare.show(state.compare);
        specials.show(state.specials);
        results.hidden = !first;
        if (!first) return refresh(spoken, {}, "");

        drawGrid(first, state);
        const { text, reactions } = second ? comparison(first, second) : { text: "", reactions: null };
        grid.cells.flat().forEach(({ input, face }, i) => {
            const [layer, head] = [Math.floor(i / recorded.heads) + 1, (i % recorded.heads) + 1];
            input.checked = state.layer === layer && state.head === head;
            const reaction = reactions ? decimal(reactions[i].reaction) : "";
            refresh(face.lastChild, {}, reaction);
            refresh(input, { "aria-label": `헤드 ${layer}-${head}${reaction && `, 반응 ${reaction}`}` });
        });
        refresh(compared, {}, text);
        compared.parentNode.hidden = !second;
        listTitle.hidden = list.hidden = !reactions;
        list.replaceChildren(...strongestReactions(reactions ?? []).map((row) => {
            const button = element("button", {
                type: "button", name: "reaction", onclick: () => {
                    choose(row.layer, row.head);
                    list.querySelector('[aria-pressed="true"]')?.focus();
                },
                "aria-pressed": String(row.layer === state.layer && row.head === state.head),
            });
            button.innerHTML = reactionMarkup(row, first);
            return element("li", {}, button);
        }));

        refresh(headline, {}, `${state.layer}-${state.head}`);
        const changed = changedTokens(first, second);
        const described = pictures[0].show(first, state.text, state, changed[0], width);
        pictures[1].node.hidden = !second;
        if (second) pictures[1].show(second, state.compare, state, changed[1], width);
        refresh(spoken, {}, second ? `${text} ${described}` : described);
        if (onPage) writeAddress(state.text);
    }

    // ---- the address of the page holds the sentence, so that it can be shared ----

    let written = read().text;
    function writeAddress(text) {
        if (text === written) return;
        written = text;
        if (addressText() !== text) history.replaceState(history.state, "", `#${new URLSearchParams({ s: text })}`);
    }
    const addressText = () => new URLSearchParams(location.hash.slice(1)).get("s");
    function readAddress() {
        const text = normalizeText(addressText() ?? "");
        if (text === "") return;
        set({ text });
        form.scrollIntoView();
    }

    const observer = new ResizeObserver(([{ contentRect }]) => {
        if (contentRect.width === 0 || contentRect.width === width) return;
        width = contentRect.width;
        update();
    });
    el.append(form);
    if (onPage) {
        readAddress();
        addEventListener("hashchange", readAddress);
    }
    model.on("change", update);
    update();
    observer.observe(pictures[0].node);
    return () => {
        model.off("change", update);
        removeEventListener("hashchange", readAddress);
        observer.disconnect();
        for (const { stop } of Object.values(slots)) stop();
        source.close();
        form.remove();
    };
}

// ---- still: for readers without JavaScript, and for print ----------------------------------------------------------

export function still({ _recorded, _weights, ...state }) {
    const prepared = readRecorded(_recorded, _weights);
    const find = (text) => prepared.get(text) ?? browserModel?.answers.get(text);
    const [first, second] = [find(state.text), find(state.compare)];
    if (!first) {
        return `<figure class="mh-still"><p>문장: ${escapeHtml(state.text)}</p>` +
            '<p class="mh-alert">이 문장의 지도는 아직 계산하지 않았습니다.</p></figure>';
    }
    const changed = changedTokens(first, second);
    const { layer, head, specials } = state;
    const picture = (attention, text, marked) => {
        const rows = mapOf(attention, layer, head);
        const shown = shownTokens(attention.tokens, specials);
        const label = escapeHtml(describeMap(attention, rows, shown, `${layer}-${head}`));
        const svg = ({ width, height }, markup) => `<svg role="img" aria-label="${label}" ` +
            `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${markup}</svg>`;
        const layout = mapLayout(attention.tokens, shown, 400);
        return `<p class="mh-title mh-sentence-title">${escapeHtml(text)}</p>` +
            `<p class="mh-small">${specialText(attention, rows, specials)}</p>` +
            `<div class="mh-attend" style="${headStyle(head - 1)}"><div class="mh-map mh-lines">` +
            `${svg(linesLayout(attention.tokens, shown), linesMarkup(attention, rows, shown, marked))}</div>` +
            '<div class="mh-map mh-scroll">' +
            `${svg(layout, mapMarkup(attention, rows, shown, marked, layout))}</div></div>`;
    };
    const { text, reactions } = second ? comparison(first, second) : { text: "", reactions: null };
    const rows = strongestReactions(reactions ?? []).map((row) =>
        `<li><span class="mh-best-row">${reactionMarkup(row, first)}</span></li>`).join("");
    const compared = second && `${picture(second, state.compare, changed[1])}<p>${escapeHtml(text)}</p>` +
        `<ol class="mh-best">${rows}</ol>`;
    return `<figure class="mh-still"><p>헤드 <strong>${layer}-${head}</strong></p>` +
        `${picture(first, state.text, changed[0])}${compared ?? ""}` +
        "<figcaption>왼쪽과 행이 쿼리, 오른쪽과 열이 키입니다.</figcaption></figure>";
}

export default { render };
