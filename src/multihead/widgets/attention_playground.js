// AttentionPlayground: a sentence, its attention maps head by head, and what each head adds to the output.

import {
    checkRadio, element, escapeHtml, formatNumber, headStyle, numberControl, radioGroup, refresh, splitFault, textBox,
} from "./core.js";
import { normalizeText } from "./text.js";

const LIMITS = { d_model: [8, 64], h: [1, 8], seed: [0, 999], padding: [1, 12] };
const SETTINGS = ["sentence", "d_model", "h", "mask", "padding", "scaled", "seed", "query"];
const MASKS = [["none", "없음"], ["causal", "인과"], ["padding", "패딩"]];
const MOST_WORDS = 12;

// ---- the same numbers as AttentionPlayground.attention() in Python -------------------------------------------------

const WIDTH = 64; // of the one set of matrices; a smaller d_model takes its leading part
const MATRIX_STEP = 2 ** -8;
const EMBEDDING_STEP = 2 ** -5;

// W_Q, W_K, W_V, W_O and 256 normal quantiles, as Python packed them.
export function unpack(base64) {
    const numbers = Int8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const [W_Q, W_K, W_V, W_O] = [0, 1, 2, 3].map((i) => numbers.subarray(i * WIDTH ** 2, (i + 1) * WIDTH ** 2));
    return { W_Q, W_K, W_V, W_O, quantiles: numbers.subarray(4 * WIDTH ** 2) };
}

const allWords = (sentence) => normalizeText(sentence).split(" ").filter(Boolean);
export const wordsOf = (sentence) => allWords(sentence).slice(0, MOST_WORDS);

// Random bytes for a word: the FNV-1a hash of "seed:word", counted on and mixed by MurmurHash3's last step.
export function wordBytes(word, seed, count) {
    let hashed = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(`${seed}:${word}`)) hashed = Math.imul(hashed ^ byte, 0x01000193);
    return Array.from({ length: count }, (_, i) => {
        let bits = hashed + Math.imul(i, 0x9e3779b9);
        bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
        bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
        return (bits ^ (bits >>> 16)) >>> 24;
    });
}

// Rows `from` to `to` of W, times x.
function project(x, W, D, from = 0, to = D) {
    const y = new Float64Array(D);
    for (let i = from; i < to; i++) for (let j = 0; j < D; j++) y[j] += x[i] * W[i * WIDTH + j];
    const factor = MATRIX_STEP * Math.sqrt(WIDTH / D);
    return y.map((number) => number * factor);
}

function dot(a, b, from = 0, to = a.length) {
    let sum = 0;
    for (let i = from; i < to; i++) sum += a[i] * b[i];
    return sum;
}

// Softmax over what may be seen; zeros if that is nothing.
function softmax(scores, seen) {
    const largest = Math.max(...scores.filter((_, key) => seen(key)));
    const powers = scores.map((score, key) => (seen(key) ? Math.exp(score - largest) : 0));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => (sum === 0 ? 0 : power / sum));
}

const maySee = ({ mask, padding }, T) => (query, key) =>
    mask === "causal" ? key <= query : mask === "padding" ? key < T - padding : true;

// Everything that is shown. `query` is the word whose output vector is taken apart.
export function attend(state, tables) {
    const { sentence, d_model: D, h, scaled, seed, query } = state;
    const words = wordsOf(sentence);
    const T = words.length;
    const d_k = D / h;
    const seen = maySee(state, T);
    const x = words.map((word) =>
        wordBytes(word, seed, D).map((byte) => tables.quantiles[byte] * EMBEDDING_STEP));
    const [q, k, v] = ["W_Q", "W_K", "W_V"].map((name) => x.map((row) => project(row, tables[name], D)));

    const heads = Array.from({ length: h }, (_, head) => {
        const [from, to] = [head * d_k, (head + 1) * d_k];
        const dots = q.map((a) => k.map((b) => dot(a, b, from, to)));
        const scores = dots.map((row) => row.map((number) => (scaled ? number / Math.sqrt(d_k) : number)));
        const weights = scores.map((row, i) => softmax(row, (key) => seen(i, key)));
        const sums = weights.map((row) => row.reduce((a, b) => a + b, 0));
        return { dots, scores, weights, sums };
    });

    // The query's row after the weighted sum, all heads side by side.
    const concat = new Float64Array(D);
    heads.forEach(({ weights }, head) => {
        for (let j = head * d_k; j < (head + 1) * d_k; j++) {
            for (let key = 0; key < T; key++) concat[j] += weights[query][key] * v[key][j];
        }
    });
    const output = project(concat, tables.W_O, D);
    const contributions = heads.map((_, head) => project(concat, tables.W_O, D, head * d_k, (head + 1) * d_k));
    const square = dot(output, output);
    const sum = output.map((_, j) => contributions.reduce((total, numbers) => total + numbers[j], 0));
    return {
        words, T, d_k, seen, heads, output, contributions,
        norms: contributions.map((numbers) => Math.sqrt(dot(numbers, numbers))),
        norm: Math.sqrt(square),
        // How much of the output a head makes, in the direction of the output; the shares add up to 1.
        shares: contributions.map((numbers) => (square === 0 ? null : dot(numbers, output) / square)),
        difference: Math.max(...sum.map((number, j) => Math.abs(number - output[j]))),
        peak: heads.flatMap(({ weights }) => weights).reduce((total, row) => total + Math.max(...row), 0) / (h * T),
    };
}

// ---- numbers and sentences -----------------------------------------------------------------------------------------

// With a real minus sign, and none in front of zero.
export function decimal(number, digits) {
    const text = number.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}
export const percent = (share) => (share === null ? "–" : `${decimal(100 * share, 1)} %`);
// 4.4e-16 -> 4.4 × 10⁻¹⁶
export function scientific(number) {
    if (number === 0) return "0";
    const [digits, exponent] = number.toExponential(1).split("e");
    const raised = exponent.replace(/[-+\d]/g, (c) => ({ "-": "⁻", "+": "" })[c] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]);
    return `${digits}\u00a0×\u00a010${raised}`;
}
const quoted = (word) => `‘${word}’`;
const strongest = (row) => row.indexOf(Math.max(...row));

function faultOf(state) {
    if (wordsOf(state.sentence).length === 0) {
        return "문장에 단어가 없습니다. 단어를 하나 이상 쓰면 지도가 나타납니다.";
    }
    return splitFault(state, LIMITS);
}

function sentenceNote({ sentence }) {
    const count = allWords(sentence).length;
    return count > MOST_WORDS ? `단어가 ${formatNumber(count)}개입니다. 앞의 ${MOST_WORDS}개만 씁니다.` : "";
}

function explain({ mask, padding, scaled }, { T, d_k }) {
    const hidden = Math.min(padding, T);
    const masking = {
        none: "모든 쿼리가 모든 단어를 봅니다.",
        causal: "쿼리는 자기와 그 앞의 단어만 봅니다. 빗금은 가려진 칸입니다.",
        padding: hidden < T
            ? `마지막 단어 ${hidden}개를 패딩으로 여겨 어떤 쿼리도 보지 않습니다. 빗금은 가려진 칸입니다.`
            : `단어 ${T}개가 모두 패딩입니다. 볼 수 있는 키가 하나도 없어 모든 행의 가중치와 합이 0입니다.`,
    }[mask];
    const scaling = scaled ? `점수를 √d_k(${decimal(Math.sqrt(d_k), 3)})로 나눕니다.` : "점수를 √d_k로 나누지 않습니다.";
    return `행이 쿼리, 열이 키입니다. ${masking} ${scaling}`;
}

// What the maps say about the chosen query, in words.
function summarise({ query }, { words, heads }) {
    const row = `${quoted(words[query])} 행`;
    if (heads[0].sums[query] === 0) return `${row}은 볼 수 있는 키가 없어 가중치가 모두 0입니다. NaN이 되지 않습니다.`;
    const tops = heads.map(({ weights }, head) => {
        const key = strongest(weights[query]);
        return `헤드 ${head}: ${quoted(words[key])} ${decimal(weights[query][key], 3)}`;
    });
    return `${row}에서 가장 큰 가중치. ${tops.join(", ")}`;
}

function describeMap({ words, heads }, head) {
    const rows = words.map((word, query) => {
        const { weights, sums } = heads[head];
        if (sums[query] === 0) return `${word} 모두 0`;
        const key = strongest(weights[query]);
        return `${word} → ${words[key]} ${decimal(weights[query][key], 2)}`;
    });
    return `헤드 ${head}의 가중치 지도. 행마다 가장 큰 가중치: ${rows.join(", ")}`;
}

function sumSentence({ h }, { difference, norm }) {
    const sum = h === 1
        ? "헤드가 하나이면 그 헤드의 기여가 곧 출력입니다."
        : "헤드의 기여를 더하면 출력과 같습니다.";
    return `${sum} 가장 큰 차이: ${scientific(difference)}` + (norm === 0 ? ". 출력이 0이라 몫은 없습니다." : "");
}

// ---- pictures: SVG text, the same for the widget and for the still -------------------------------------------------

const GAP = 16;
const SUM_WIDTH = 36;
// Hangul and emoji are as wide as they are high, Latin letters about half of it.
const textWidth = (text, size) =>
    [...text].reduce((width, letter) => width + (letter.charCodeAt(0) < 0x250 ? 0.6 : 0.95) * size, 0);

function cut(word, size, width) {
    if (textWidth(word, size) <= width) return word;
    const letters = [...word];
    while (letters.length > 1 && textWidth(`${letters.join("")}…`, size) > width) letters.pop();
    return `${letters.join("")}…`;
}

// Sizes of a map, and how many stand side by side.
export function mapLayout({ h }, { words, T }, width) {
    const size = h === 1 ? 13 : 12;
    const label = Math.ceil(Math.min(Math.max(...words.map((word) => textWidth(word, size))), 84, width / 4)) + 10;
    const least = label + SUM_WIDTH + T * 18;
    const fitting = Math.max(1, Math.min(h, Math.floor((width + GAP) / (least + GAP))));
    const columns = Math.ceil(h / Math.ceil(h / fitting));
    const space = Math.floor((width - GAP * (columns - 1)) / columns) - label - SUM_WIDTH;
    const cell = Math.max(12, Math.min(h === 1 ? 62 : 44, Math.floor(space / T)));
    const upright = words.every((word) => textWidth(word, size) <= cell - 4);
    const longest = Math.max(...words.map((word) => [...cut(word, size, 66)].length));
    const header = upright ? 24 : Math.ceil(longest * (size + 1)) + 12;
    return {
        size, label, cell, columns, upright, header, T,
        width: label + T * cell + SUM_WIDTH, height: header + T * cell + 4,
    };
}

function mapMarkup(head, state, numbers, { size, label, cell, upright, header, T, width }) {
    const { words, heads, seen } = numbers;
    const { weights, sums } = heads[head];
    const padded = (word) => state.mask === "padding" && word >= T - state.padding;
    const labelClass = (word, own) => `mh-word${padded(word) ? " is-padding" : ""}${own ? " is-query" : ""}`;
    const middle = (i) => (i + 0.5) * cell;
    const parts = [];
    words.forEach((word, i) => {
        const [x, y] = [label + middle(i), header + middle(i)];
        const column = escapeHtml(cut(word, size, upright ? cell : 66));
        parts.push(upright
            ? `<text class="${labelClass(i)}" x="${x}" y="${header - 8}" text-anchor="middle">${column}</text>`
            : `<text class="${labelClass(i)} is-vertical" x="${x}" y="${header - 5}" text-anchor="end">` +
                `${column}</text>`);
        parts.push(`<text class="${labelClass(i, i === state.query)}" x="${label - 8}" y="${y}" text-anchor="end" ` +
            `dy="0.35em">${escapeHtml(cut(word, size, label - 8))}</text>`);
        parts.push(`<text class="mh-sum" x="${width}" y="${y}" text-anchor="end" dy="0.35em">` +
            `${decimal(sums[i], 2)}</text>`);
    });
    parts.push(`<text class="mh-sum" x="${width}" y="${header - 8}" text-anchor="end">합</text>`);
    let ground = "";
    let hatching = "";
    const cells = [];
    weights.forEach((row, query) => row.forEach((weight, key) => {
        const [x, y, side] = [label + key * cell, header + query * cell, cell - 2];
        const masked = !seen(query, key);
        ground += `M${x + 1},${y + 1}h${side}v${side}h${-side}z`;
        cells.push(`<rect class="mh-cell" x="${x + 1}" y="${y + 1}" width="${side}" height="${side}" ` +
            `fill-opacity="${weight.toFixed(3)}"/>`);
        if (masked) {
            const [near, far] = [side * 0.25, side * 0.75];
            hatching += `M${x + 1 + near},${y + 1 + far}L${x + 1 + far},${y + 1 + near}`;
        } else if (cell >= 36) {
            cells.push(`<text class="mh-weight" x="${x + cell / 2}" y="${y + cell / 2}" text-anchor="middle" ` +
                `dy="0.35em">${decimal(weight, 2)}</text>`);
        }
    }));
    parts.push(`<path class="mh-ground" d="${ground}"/>`, ...cells);
    if (hatching) parts.push(`<path class="mh-hatching" d="${hatching}"/>`);
    parts.push(`<rect class="mh-query-row" x="${label - 1}" y="${header + state.query * cell - 1}" ` +
        `width="${T * cell + 2}" height="${cell + 2}" rx="5"/>`);
    return parts.join("");
}

// A vector as bars up and down from a middle line, all vectors on one scale.
function barsMarkup(vector, scale) {
    const bar = 100 / vector.length;
    const bars = Array.from(vector, (number, j) => {
        const height = (19 * number) / scale;
        return `M${(j * bar + bar * 0.12).toFixed(2)},20v${(-height).toFixed(2)}h${(bar * 0.76).toFixed(2)}V20z`;
    });
    return `<path class="mh-zero" d="M0,20H100"/><path class="mh-bars" d="${bars.join("")}"/>`;
}

// One row a head, and the output below them.
function contributionRows({ h }, { contributions, output, norms, norm, shares }) {
    const rows = contributions.map((vector, head) => ({
        name: `head_${head}`, label: `헤드 ${head}`, head, vector, norm: norms[head], share: shares[head],
    }));
    return [...rows, {
        name: "output", label: h === 1 ? "출력" : "합 = 출력", vector: output, norm,
        share: shares[0] === null ? null : shares.reduce((a, b) => a + b, 0),
    }];
}

const scaleOf = ({ contributions, output }) =>
    Math.max(...[output, ...contributions].flatMap((vector) => Array.from(vector, Math.abs))) || 1;

function contributionMarkup(row, scale, longest) {
    const style = row.head === undefined ? "--head:var(--text)" : headStyle(row.head);
    return `<div class="mh-contribution${row.head === undefined ? " is-output" : ""}" style="${style}">` +
        `<span class="mh-row has-head">${row.label}</span>` +
        `<svg class="mh-vector" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label="` +
        `${row.label}, 숫자 ${row.vector.length}개">${barsMarkup(row.vector, scale)}</svg>` +
        `<span class="mh-norm"><i style="width:${((100 * row.norm) / longest).toFixed(1)}%"></i></span>` +
        `<span class="mh-figure" data-out="norm_${row.name}">${decimal(row.norm, 3)}</span>` +
        `<span class="mh-figure" data-out="share_${row.name}">${percent(row.share)}</span></div>`;
}

function contributionsMarkup(state, numbers) {
    const longest = Math.max(numbers.norm, ...numbers.norms) || 1;
    const rows = contributionRows(state, numbers);
    return '<div class="mh-contribution is-header"><span></span><span class="mh-vector">출력 벡터의 숫자 ' +
        `${state.d_model}개</span><span class="mh-norm-title">크기(노름)</span>` +
        '<span class="mh-figure">출력에서의 몫</span></div>' +
        rows.map((row) => contributionMarkup(row, scaleOf(numbers), longest)).join("");
}

const contributionTitle = ({ query }, { words }) => `${quoted(words[query])}의 출력에 헤드가 더하는 것`;
const SHARE = "몫은 기여를 출력 방향에 정사영해 잰 비율입니다. 모두 더하면 100\u00a0%이고, 음수이면 출력과 반대쪽을 가리킵니다.";
const UNTRAINED = "가중치는 학습하지 않은 난수이고, 단어의 임베딩도 시드가 정한 난수입니다. " +
    "지도의 뜻이 아니라 설정에 따라 숫자가 어떻게 바뀌는지를 보십시오.";

// ---- live widget ---------------------------------------------------------------------------------------------------

function readState(get) {
    const state = Object.fromEntries(SETTINGS.map((name) => [name, get(name)]));
    return { ...state, query: Math.max(0, Math.min(state.query, wordsOf(state.sentence).length - 1)) };
}

function render({ model, el }) {
    const tables = unpack(model.get("_weights"));
    const read = () => readState((name) => model.get(name));
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };

    // Controls. A form keeps the radio buttons of two widgets on one page apart.
    const note = element("p", { class: "mh-note", role: "status", "data-out": "note" });
    const say = (text) => { note.textContent = text; };
    const sentence = textBox({
        name: "sentence",
        oninput: () => {
            say("");
            const text = normalizeText(sentence.box.value);
            const last = Math.max(0, wordsOf(text).length - 1);
            set({ sentence: text, query: Math.min(model.get("query"), last) });
        },
    });
    const sentenceText = element("p", { class: "mh-note", role: "status", "data-out": "sentence_note" });
    const number = (name, label, step) => numberControl({
        name, label, range: LIMITS[name], step, change: (value) => set({ [name]: value }), say,
    });
    const controls = {
        h: number("h", "헤드 수 h"), d_model: number("d_model", "모델 차원 d_model", 8), seed: number("seed", "시드"),
        padding: number("padding", "패딩으로 볼 단어 수"),
    };
    const masks = radioGroup({ name: "mask", legend: "마스크", options: MASKS, change: (mask) => set({ mask }) });
    const scaling = radioGroup({
        name: "scaled", legend: "점수 ÷ √d_k", options: [["true", "켬"], ["false", "끔"]],
        change: (value) => set({ scaled: value === "true" }),
    });
    const queries = element("div");

    // Readouts.
    const alert = element("p", { class: "mh-alert", role: "alert", hidden: true });
    const readout = (name, label) => element("div", {},
        element("div", { class: "mh-label" }, label), element("div", { "data-out": name }));
    const explanation = element("p", { class: "mh-say", "data-out": "explanation" });
    const maps = element("div", { class: "mh-maps", "data-out": "maps" });
    const cellReadout = element("div", { class: "mh-cell-readout", "aria-live": "polite" },
        readout("cell_head", "헤드"), readout("cell_query", "쿼리"), readout("cell_key", "키"),
        readout("cell_dot", "q · k"), readout("cell_score", "점수"), readout("cell_weight", "가중치"));
    const summary = element("p", { class: "mh-say", "aria-live": "polite", "data-out": "summary" });
    const title = element("p", { class: "mh-title", "data-out": "contribution_title" });
    const contributions = element("div", { class: "mh-contributions", "data-out": "contributions" });
    const sum = element("p", { class: "mh-say", "data-out": "sum" });
    const share = element("p", { class: "mh-small" }, SHARE);
    const results = element("div", { class: "mh-results" },
        explanation,
        element("div", { class: "mh-attend" },
            maps, element("div", { class: "mh-side" }, cellReadout, queries, summary)),
        title, contributions, sum, share, element("p", { class: "mh-small" }, UNTRAINED));

    const form = element("form", {
        class: "mh", "data-widget": "AttentionPlayground", "aria-label": "어텐션 놀이터",
        onsubmit: (event) => event.preventDefault(),
    },
    element("label", { class: "mh-sentence" },
        element("span", { class: "mh-label" }, "문장(띄어쓰기로 단어를 나눕니다)"), sentence.box),
    sentenceText,
    element("div", { class: "mh-controls" }, controls.h.node, controls.d_model.node, controls.seed.node),
    element("div", { class: "mh-switches" }, masks, scaling, controls.padding.node), note,
    element("div", { class: "mh-readouts" },
        readout("division", "d_k = d_model ÷ h"), readout("root", "√d_k"), readout("peak", "행마다 가장 큰 가중치의 평균")),
    alert, results);
    const out = (name) => form.querySelector(`[data-out="${name}"]`);

    let width = 640;
    let numbers = null;
    let layout = null;
    let pointed = null; // { head, query, key } under the pointer
    let kept = { head: 0, key: null }; // chosen by click or keys, in the query's row; null is the strongest key

    function shownCell() {
        if (pointed) return pointed;
        const { query, h } = read();
        const head = Math.min(kept.head, h - 1);
        const key = kept.key === null ? strongest(numbers.heads[head].weights[query]) : kept.key;
        return { head, query, key: Math.min(key, numbers.T - 1) };
    }

    function showCell() {
        const { head, query, key } = shownCell();
        const { words, heads, seen, d_k } = numbers;
        for (const marked of maps.querySelectorAll(".is-pointed")) marked.classList.remove("is-pointed");
        maps.children[head].querySelectorAll(".mh-cell")[query * numbers.T + key].classList.add("is-pointed");
        const { dots, scores, weights } = heads[head];
        const score = decimal(scores[query][key], 3);
        const texts = {
            cell_head: String(head), cell_query: words[query], cell_key: words[key],
            cell_dot: decimal(dots[query][key], 3),
            cell_score: read().scaled ? `÷ √${d_k} = ${score}` : score,
            cell_weight: decimal(weights[query][key], 3) + (seen(query, key) ? "" : " (가려짐)"),
        };
        cellReadout.style.cssText = headStyle(head);
        for (const [name, text] of Object.entries(texts)) refresh(out(name), {}, text);
    }

    function drawMaps(state) {
        layout = mapLayout(state, numbers, width);
        const box = `0 0 ${layout.width} ${layout.height}`;
        maps.style.cssText = `--columns:${layout.columns}`;
        while (maps.childElementCount > state.h) maps.lastChild.remove();
        while (maps.childElementCount < state.h) {
            const head = maps.childElementCount;
            const map = element("div", { class: "mh-map", style: headStyle(head), "data-head": head },
                element("div", { class: "mh-row has-head" }, `헤드 ${head}`));
            // createElement makes no SVG, innerHTML does. The svg stays, so that it keeps the keyboard's focus.
            map.insertAdjacentHTML("beforeend", '<svg role="img" tabindex="0"></svg>');
            maps.append(map);
        }
        // While a slider moves, mostly only numbers change: write these, and leave the drawing as it is.
        const drawing = JSON.stringify([numbers.words, layout, state.mask, state.padding, state.query]);
        [...maps.children].forEach(({ lastChild: svg }, head) => {
            refresh(svg, {
                viewBox: box, width: String(layout.width), height: String(layout.height),
                style: `font-size:${layout.size}px`, "aria-label": describeMap(numbers, head),
            });
            if (svg.drawing === drawing) return writeNumbers(svg, numbers.heads[head]);
            svg.drawing = drawing;
            svg.innerHTML = mapMarkup(head, state, numbers, layout);
        });
    }

    function writeNumbers(svg, { weights, sums }) {
        const all = weights.flat();
        svg.querySelectorAll(".mh-cell").forEach((cell, i) => refresh(cell, { "fill-opacity": all[i].toFixed(3) }));
        svg.querySelectorAll(".mh-sum").forEach((node, i) => i < sums.length && refresh(node, {}, decimal(sums[i], 2)));
        const seen = all.filter((_, i) => numbers.seen(Math.floor(i / numbers.T), i % numbers.T));
        svg.querySelectorAll(".mh-weight").forEach((node, i) => refresh(node, {}, decimal(seen[i], 2)));
    }

    let wordsShown = null;
    function drawQueries({ query }) {
        const key = numbers.words.join(" ");
        if (key !== wordsShown) {
            wordsShown = key;
            queries.replaceChildren(radioGroup({
                name: "query", legend: "쿼리 단어", change: (value) => { kept.key = null; set({ query: value }); },
                options: numbers.words.map((word, index) => [index, element("span", { class: "mh-clip" }, word)]),
            }));
        }
        checkRadio(queries, query);
    }

    function update() {
        pointed = null;
        const state = read();
        const fault = faultOf(state);
        sentence.show(state.sentence);
        for (const [name, { show }] of Object.entries(controls)) show(state[name]);
        controls.padding.node.hidden = state.mask !== "padding";
        checkRadio(masks, state.mask);
        checkRadio(scaling, state.scaled);
        refresh(sentenceText, {}, sentenceNote(state));

        refresh(alert, {}, fault ?? "");
        alert.hidden = fault === null;
        results.hidden = fault !== null;
        if (fault) {
            numbers = null;
            wordsShown = null;
            for (const name of ["division", "root", "peak"]) out(name).textContent = "–";
            for (const node of [maps, contributions, queries, explanation, summary, title, sum]) node.replaceChildren();
            for (const node of cellReadout.querySelectorAll("[data-out]")) node.textContent = "";
            return;
        }
        numbers = attend(state, tables);
        refresh(out("division"), {}, `${state.d_model} ÷ ${state.h} = ${numbers.d_k}`);
        refresh(out("root"), {}, decimal(Math.sqrt(numbers.d_k), 3));
        refresh(out("peak"), {}, decimal(numbers.peak, 3));
        refresh(explanation, {}, explain(state, numbers));
        refresh(summary, {}, summarise(state, numbers));
        refresh(title, {}, contributionTitle(state, numbers));
        refresh(sum, {}, sumSentence(state, numbers));
        share.hidden = state.h === 1;
        drawMaps(state);
        showCell();
        drawQueries(state);
        contributions.innerHTML = contributionsMarkup(state, numbers);
    }

    // ---- pointing at cells: with the pointer for the moment, with a click or the arrow keys to stay ----

    function cellAt(event) {
        const svg = event.target.closest("svg");
        if (!svg || !numbers) return null;
        const { left, top, width: drawn } = svg.getBoundingClientRect();
        const scale = layout.width / drawn;
        const key = Math.floor(((event.clientX - left) * scale - layout.label) / layout.cell);
        const query = Math.floor(((event.clientY - top) * scale - layout.header) / layout.cell);
        if ([key, query].some((i) => i < 0 || i >= numbers.T)) return null;
        return { head: Number(svg.parentNode.dataset.head), query, key };
    }
    function point(cell) {
        if (!numbers) return;
        pointed = cell;
        showCell();
    }
    maps.addEventListener("pointermove", (event) => point(cellAt(event)));
    maps.addEventListener("pointerleave", () => point(null));
    maps.addEventListener("click", (event) => {
        const cell = cellAt(event);
        if (!cell) return;
        kept = { head: cell.head, key: cell.key };
        set({ query: cell.query });
        showCell();
    });
    maps.addEventListener("keydown", (event) => {
        const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
        if (!(event.key in steps)) return;
        const [down, right] = steps[event.key];
        event.preventDefault();
        pointed = null;
        const head = Number(event.target.parentNode.dataset.head);
        const { key } = shownCell();
        const inside = (i) => Math.max(0, Math.min(numbers.T - 1, i));
        kept = { head, key: inside(key + right) };
        set({ query: inside(read().query + down) });
        showCell();
    });

    const observer = new ResizeObserver(([{ contentRect }]) => {
        if (contentRect.width === 0 || contentRect.width === width) return;
        width = contentRect.width;
        if (numbers) update();
    });
    el.append(form);
    model.on("change", update);
    update();
    observer.observe(form.querySelector(".mh-controls"));
    return () => {
        model.off("change", update);
        observer.disconnect();
        form.remove();
    };
}

// ---- still: for readers without JavaScript, and for print ----------------------------------------------------------

export function still({ _weights, ...given }) {
    const state = readState((name) => given[name]);
    const fault = faultOf(state);
    const sentence = `<p>문장: ${escapeHtml(state.sentence)}</p>`;
    if (fault) return `<figure class="mh-still">${sentence}<p class="mh-alert">${fault}</p></figure>`;
    const numbers = attend(state, unpack(_weights));
    const layout = mapLayout(state, numbers, 640);
    const maps = numbers.heads.map((_, head) =>
        `<div class="mh-map" style="${headStyle(head)}"><div class="mh-row has-head">헤드 ${head}</div>` +
        `<svg role="img" aria-label="${escapeHtml(describeMap(numbers, head))}" style="font-size:${layout.size}px" ` +
        `viewBox="0 0 ${layout.width} ${layout.height}" width="${layout.width}" height="${layout.height}">` +
        `${mapMarkup(head, state, numbers, layout)}</svg></div>`);
    return `<figure class="mh-still">${sentence}<p>${sentenceNote(state)} ${explain(state, numbers)}</p>` +
        `<div class="mh-maps" style="--columns:${layout.columns}">${maps.join("")}</div>` +
        `<p>${escapeHtml(summarise(state, numbers))}</p>` +
        `<p class="mh-title">${escapeHtml(contributionTitle(state, numbers))}</p>` +
        `<div class="mh-contributions">${contributionsMarkup(state, numbers)}</div>` +
        `<p>${sumSentence(state, numbers)}</p>` +
        `<figcaption>h = ${state.h}, d_model = ${state.d_model}, d_k = ${numbers.d_k}, 시드 ${state.seed}. ` +
        `${UNTRAINED}</figcaption></figure>`;
}

export default { render };
