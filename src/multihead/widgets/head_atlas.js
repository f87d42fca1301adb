// HeadAtlas: every head of a model, coloured by a score; the map of one head, with relations between words over it.

import {
    element, escapeHtml, GRID_CORNER, headGrid, numbersTo, refresh, selectControl, tokenWidth, unpackWeights,
} from "./core.js";

const SETTINGS = ["score", "layer", "head", "sentence", "relation"];
const MOST_LISTED = 5;

// ---- the same numbers as HeadAtlas.map() and HeadAtlas.arcs() in Python ---------------------------------------------

// The map (T, T) of the head that is shown, as rows.
export function mapOf({ _atlas, layer, head, sentence }, weights) {
    const { layers, heads, sentences } = _atlas;
    const size = ({ tokens }) => tokens.length ** 2;
    const T = sentences[sentence].tokens.length;
    const before = sentences.slice(0, sentence).reduce((sum, one) => sum + size(one) * layers * heads, 0);
    const start = before + ((layer - 1) * heads + head - 1) * T * T;
    return Array.from({ length: T }, (_, query) => weights.subarray(start + query * T, start + (query + 1) * T));
}

const scoreOf = ({ _atlas, score }) => _atlas.scores.find(([name]) => name === score)[1];
const relationOf = ({ _atlas, relation }) => _atlas.relations.find(([name]) => name === relation)?.[1];
const sentenceOf = ({ _atlas, sentence }) => _atlas.sentences[sentence];

// From each word to each word: the sum over the pieces of the key word, the mean over those of the query word.
export function wordMap(map, words) {
    const pieces = [];
    words.forEach((word, token) => { if (word !== null) (pieces[word] ??= []).push(token); });
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    return pieces.map((queries) => pieces.map((keys) =>
        sum(queries.map((query) => sum(keys.map((key) => map[query][key])))) / queries.length));
}

// An arc is found if no other word of the sentence gets as much from its query. Sums of the same weights in another order
// differ by less than TIE, sums of others by more.
const TIE = 1e-9;
export function arcsOf(state, weights) {
    const relation = relationOf(state);
    if (!relation) return [];
    const { words } = sentenceOf(state);
    const between = wordMap(mapOf(state, weights), words);
    return relation.arcs[state.sentence].map(([query, key]) => {
        const weight = between[query][key];
        const asMuch = between[query].filter((other, word) => word !== query && other > weight - TIE);
        return { query, key, weight, found: asMuch.length === 1 };
    });
}

// ---- numbers and sentences -----------------------------------------------------------------------------------------

function decimal(number) {
    const text = number.toFixed(2);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}
const percent = (share) => `${(100 * share).toFixed(0)}\u00a0%`;
const quoted = (word) => `‘${word}’`;
const strongest = (row) => row.indexOf(Math.max(...row));
const headName = ({ layer, head }) => `${layer}-${head}`;

// A word as its pieces read together: play ##ing -> playing.
const wordText = ({ tokens, words }, word) =>
    tokens.filter((_, token) => words[token] === word).map((piece) => piece.replace(/^##/, "")).join("");

// The heads by their score, largest first.
function ranking(state) {
    const heads = scoreOf(state).flatMap((row, l) => row.map((value, i) => ({ layer: l + 1, head: i + 1, value })));
    return heads.sort((a, b) => b.value - a.value);
}

// The range of the colours: from 0, or as far down as up if there are negative scores.
export function colourRange(table) {
    const values = table.flat();
    const largest = Math.max(...values.map(Math.abs)) || 1;
    return Math.min(...values) < 0 ? [-largest, largest] : [0, largest];
}

// What the arcs say about this head in this sentence.
function tellArcs(state, arcs) {
    const sentence = sentenceOf(state);
    if (!arcs.length) return `이 문장에는 ‘${state.relation}’ 관계가 없습니다.`;
    const told = arcs.map(({ query, key, weight, found }) =>
        `${found ? "○" : "×"} ${wordText(sentence, query)} → ${wordText(sentence, key)} ${decimal(weight)}`);
    const hits = arcs.filter(({ found }) => found).length;
    return `화살표 ${arcs.length}개 가운데 ${hits}개를 맞혔습니다(○). ${told.join(", ")}`;
}

// Every sentence and number that the widget shows, as the reader sees it.
export function readouts(state, weights) {
    const { layer, head, score, relation } = state;
    const value = scoreOf(state)[layer - 1][head - 1];
    const place = ranking(state).filter((other) => other.value > value).length + 1;
    const [low, high] = colourRange(scoreOf(state));
    const chosen = relationOf(state);
    return {
        head: headName(state),
        value: decimal(value),
        place: `헤드 ${scoreOf(state).flat().length}개 가운데 ${place}위`,
        low: decimal(low),
        high: decimal(high),
        arcs: chosen ? tellArcs(state, arcsOf(state, weights)) : "",
        list_title: chosen ? `‘${relation}’ 관계를 가장 잘 맞히는 헤드` : `‘${score}’ 점수가 가장 큰 헤드`,
        baseline: chosen
            ? `기준선: 언제나 ${Math.abs(chosen.offset)}낱말 ${chosen.offset < 0 ? "앞을" : "뒤를"} 고르면 ` +
                `${percent(chosen.baseline)}. ` +
                "가는 선은 95\u00a0% 구간, 세로선은 기준선입니다."
            : "",
    };
}

function describeMap(state, map) {
    const { tokens } = sentenceOf(state);
    const rows = tokens.map((token, query) => {
        const key = strongest(map[query]);
        return `${token} → ${tokens[key]} ${decimal(map[query][key])}`;
    });
    return `헤드 ${headName(state)}의 어텐션 지도. 행마다 가장 큰 가중치: ${rows.join(", ")}`;
}

function describeCell(state, map, { query, key }) {
    const { tokens } = sentenceOf(state);
    return `${quoted(tokens[query])} → ${quoted(tokens[key])} 가중치 ${decimal(map[query][key])}`;
}

// ---- pictures ------------------------------------------------------------------------------------------------------

// How strong the colour of a score is, and which of the two colours: "is-negative" below 0.
function paint(value, [, high]) {
    const share = Math.round((100 * Math.abs(value)) / high);
    return { style: `--share:${share}%`, class: value < 0 ? "mh-swatch is-negative" : "mh-swatch" };
}

function cellMarkup(value, range) {
    const { style, class: name } = paint(value, range);
    return `<span class="${name}" style="${style}"></span><span class="mh-cell-value">${decimal(value)}</span>`;
}

// Sizes of the map in pixels. Left of the names of the queries there is room for the arcs.
export function mapLayout(tokens, width, withArcs) {
    const T = tokens.length;
    const label = (withArcs ? 54 : 0) + Math.min(110, Math.max(...tokens.map(tokenWidth))) + 10;
    const header = Math.min(110, Math.max(...tokens.map(tokenWidth))) + 10;
    const cell = Math.max(17, Math.min(27, Math.floor((width - label - 4) / T)));
    return { label, header, cell, width: label + T * cell + 2, height: header + T * cell + 2 };
}

// An arc bows to the left of the names, from the middle of its query word to the middle of its key word.
function arcMarkup({ query, key, weight, found }, { tokens, words }, { label, header, cell }) {
    const end = (word) => {
        const pieces = tokens.flatMap((_, token) => (words[token] === word ? [token] : []));
        return {
            x: label - 12 - Math.max(...pieces.map((token) => tokenWidth(tokens[token]))),
            y: header + ((pieces[0] + pieces.at(-1) + 1) / 2) * cell,
        };
    };
    const [from, to] = [end(query), end(key)];
    const tip = Math.max(4, Math.min(from.x, to.x) - 14 - Math.abs(to.y - from.y) / 3);
    return `<g class="mh-arc ${found ? "" : "is-missed"}">` +
        `<path d="M${from.x},${from.y}C${tip},${from.y} ${tip},${to.y} ${to.x - 5},${to.y}" ` +
        `stroke-width="${(1.5 + 2.5 * weight).toFixed(1)}"/>` +
        `<path class="mh-tip" d="M${to.x},${to.y}l-8,-4.5v9z"/></g>`;
}

const squareAt = ({ query, key }, { label, header, cell }) =>
    `x="${label + key * cell - 0.5}" y="${header + query * cell - 0.5}" width="${cell}" height="${cell}"`;

function mapMarkup(state, map, arcs, layout) {
    const { tokens, words } = sentenceOf(state);
    const { label, header, cell, width } = layout;
    const T = tokens.length;
    const names = tokens.map((token, i) => {
        const at = (i + 0.5) * cell;
        const name = `dy="0.35em">${escapeHtml(token)}</text>`;
        return `<text class="mh-word" x="${label - 6}" y="${header + at}" text-anchor="end" ${name}` +
            `<text class="mh-word" transform="translate(${label + at},${header - 6}) rotate(-90)" ${name}`;
    });
    const cells = tokens.map((_, query) => Array.from(map[query], (weight, key) =>
        weight < 0.005 ? "" : `<rect class="mh-cell" x="${label + key * cell}" y="${header + query * cell}" ` +
            `width="${cell - 1}" height="${cell - 1}" fill-opacity="${weight.toFixed(3)}"/>`).join(""));
    const related = arcs.map(({ query, key, found }) => tokens.flatMap((_, row) => tokens.map((_, column) =>
        words[row] !== query || words[column] !== key ? "" : `<rect class="mh-related ${found ? "" : "is-missed"}" ` +
            `${squareAt({ query: row, key: column }, layout)}/>`)).join(""));
    const side = T * cell + 1;
    return `<rect class="mh-ground" x="${label - 1}" y="${header - 1}" width="${side}" height="${side}"/>` +
        names.join("") + cells.join("") + related.join("") +
        arcs.map((arc) => arcMarkup(arc, sentenceOf(state), layout)).join("");
}

// The best heads of the relation with interval and baseline, or the heads with the largest score.
export function listRows(state) {
    const relation = relationOf(state);
    if (!relation) {
        const [, high] = colourRange(scoreOf(state));
        return ranking(state).slice(0, MOST_LISTED).map(({ layer, head, value }) => ({
            layer, head, bar: Math.max(0, value / high),
            text: decimal(value), label: `${state.score} ${decimal(value)}`,
        }));
    }
    return relation.best.slice(0, MOST_LISTED).map(({ layer, head, accuracy, low, high }) => ({
        layer, head, bar: accuracy, low, high, baseline: relation.baseline,
        text: `${percent(accuracy)} (${(100 * low).toFixed(0)}~${(100 * high).toFixed(0)})`,
        label: `정확도 ${percent(accuracy)}, 95\u00a0% 구간 ${percent(low)}부터 ${percent(high)}까지, ` +
            `기준선 ${percent(relation.baseline)}`,
    }));
}

function rowMarkup({ layer, head, text, bar, low, high, baseline }) {
    const at = (share) => `${(100 * share).toFixed(1)}%`;
    const interval = low === undefined ? "" :
        `<i class="mh-interval" style="left:${at(low)};width:${at(high - low)}"></i>` +
        `<i class="mh-baseline" style="left:${at(baseline)}"></i>`;
    return `<span class="mh-row-name">${layer}-${head}</span> <span class="mh-track"><span class="mh-bar" ` +
        `style="width:${at(bar)}"></span>${interval}</span><span class="mh-row-text">${text}</span>`;
}

const legendMarkup = ({ low, high }, negative) =>
    `<span data-out="low">${low}</span><span class="mh-scale ${negative ? "is-signed" : ""}"></span>` +
    `<span data-out="high">${high}</span>`;

// ---- live widget ---------------------------------------------------------------------------------------------------

function render({ model, el }) {
    const atlas = model.get("_atlas");
    const weights = unpackWeights(model.get("_weights"));
    const read = () => ({ _atlas: atlas, ...Object.fromEntries(SETTINGS.map((name) => [name, model.get(name)])) });
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };
    const text = ({ tokens, words }) => tokens.filter((_, i) => words[i] !== null).join(" ").replaceAll(" ##", "");
    const controls = {
        score: selectControl({
            name: "score", label: "칠할 점수", options: atlas.scores.map(([name]) => [name, name]),
            change: (score) => set({ score }),
        }),
        sentence: selectControl({
            name: "sentence", label: "문장", options: atlas.sentences.map((one, i) => [i, text(one)]),
            change: (value) => set({ sentence: Number(value) }),
        }),
        relation: selectControl({
            name: "relation", label: "관계", options: [["", "그리지 않음"], ...atlas.relations.map(([name]) => [name, name])],
            change: (relation) => set({ relation }),
        }),
    };
    controls.relation.node.hidden = atlas.relations.length === 0;

    const choose = (layer, head) => set({ layer, head });
    const { node: grid, cells } = headGrid({ ...atlas, chosen: read, choose });

    const out = (name, tag = "span") => element(tag, { "data-out": name });
    const shown = {
        head: out("head", "strong"), value: out("value", "strong"), place: out("place"), arcs: out("arcs", "p"),
        list_title: out("list_title", "p"), baseline: out("baseline", "p"),
    };
    shown.arcs.classList.add("mh-say");
    shown.list_title.classList.add("mh-title");
    shown.baseline.classList.add("mh-small");
    const legend = element("p", { class: "mh-legend" });
    const scoreName = element("span");
    const picture = element("div", { class: "mh-scroll mh-map", style: "--head:var(--linear)" });
    picture.insertAdjacentHTML("beforeend", '<svg role="img" tabindex="0"></svg>'); // createElement makes no SVG
    const svg = picture.firstChild;
    const cellText = element("p", { class: "mh-small", "data-out": "cell" });
    const list = element("ol", { class: "mh-best", "data-out": "list" });
    const spoken = element("p", { class: "mh-spoken", "aria-live": "polite" });

    const form = element("form", {
        class: "mh", "data-widget": "HeadAtlas", "aria-label": "헤드 지도책", onsubmit: (event) => event.preventDefault(),
    }, element("div", { class: "mh-controls" }, ...Object.values(controls).map(({ node }) => node)), grid, legend,
    element("p", { class: "mh-say mh-atlas-title" },
        "헤드 ", shown.head, " · ", scoreName, " ", shown.value, " (", shown.place, ")"),
    element("div", { class: "mh-atlas-body" },
        element("div", { class: "mh-atlas-map" }, picture, cellText),
        element("div", { class: "mh-atlas-side" }, shown.arcs, shown.list_title, list, shown.baseline)), spoken);

    let width = 400;
    let map = null;
    let layout = null;
    let pointed = null; // { query, key }

    function showCell() {
        const state = read();
        const { tokens } = sentenceOf(state);
        refresh(cellText, {}, pointed ? describeCell(state, map, pointed) : "칸을 가리키면 가중치를 보입니다. 행이 쿼리, 열이 키입니다.");
        svg.querySelector(".is-pointed")?.remove();
        if (!pointed || pointed.query >= tokens.length || pointed.key >= tokens.length) return;
        svg.insertAdjacentHTML("beforeend", `<rect class="mh-related is-pointed" ${squareAt(pointed, layout)}/>`);
    }

    function update() {
        const state = read();
        const table = scoreOf(state);
        const range = colourRange(table);
        const texts = readouts(state, weights);
        for (const [name, { select }] of Object.entries(controls)) select.value = String(state[name]);
        cells.forEach((row, l) => row.forEach(({ input, face }, i) => {
            const value = table[l][i];
            input.checked = state.layer === l + 1 && state.head === i + 1;
            refresh(input, { "aria-label": `헤드 ${l + 1}-${i + 1}, ${state.score} ${decimal(value)}` });
            const markup = cellMarkup(value, range);
            if (face.markup !== markup) face.innerHTML = face.markup = markup;
        }));
        legend.innerHTML = legendMarkup(texts, range[0] < 0);
        refresh(scoreName, {}, state.score);
        for (const [name, node] of Object.entries(shown)) {
            refresh(node, {}, texts[name]);
            node.hidden = texts[name] === "";
        }

        map = mapOf(state, weights);
        const arcs = arcsOf(state, weights);
        const { tokens } = sentenceOf(state);
        layout = mapLayout(tokens, width, state.relation !== "");
        refresh(svg, {
            viewBox: `0 0 ${layout.width} ${layout.height}`, width: String(layout.width), height: String(layout.height),
            "aria-label": describeMap(state, map),
        });
        svg.innerHTML = mapMarkup(state, map, arcs, layout);
        pointed = null;
        showCell();
        list.replaceChildren(...listRows(state).map((row) => {
            const button = element("button", {
                type: "button", name: "best", title: `헤드 ${headName(row)}, ${row.label}`,
                "aria-pressed": String(headName(row) === headName(state)), onclick: () => {
                    choose(row.layer, row.head);
                    list.querySelector('[aria-pressed="true"]')?.focus();
                },
            });
            button.innerHTML = rowMarkup(row);
            return element("li", {}, button);
        }));
        const now = `헤드 ${texts.head}, ${state.score} ${texts.value}. ${texts.place}. ${texts.arcs}`;
        refresh(spoken, {}, now);
    }

    // ---- pointing at the cells of the map ----

    picture.addEventListener("pointermove", (event) => {
        const { left, top, width: drawn } = svg.getBoundingClientRect();
        const scale = layout.width / drawn;
        const key = Math.floor(((event.clientX - left) * scale - layout.label) / layout.cell);
        const query = Math.floor(((event.clientY - top) * scale - layout.header) / layout.cell);
        pointed = [key, query].every((i) => i >= 0 && i < map.length) ? { query, key } : null;
        showCell();
    });
    picture.addEventListener("pointerleave", () => { pointed = null; showCell(); });
    picture.addEventListener("keydown", (event) => {
        const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        if (!move) return;
        event.preventDefault();
        const inside = (i) => Math.max(0, Math.min(map.length - 1, i));
        const { query, key } = pointed ?? { query: 0, key: 0 };
        pointed = { query: inside(query + move[0]), key: inside(key + move[1]) };
        showCell();
        refresh(spoken, {}, cellText.textContent);
    });

    const observer = new ResizeObserver(([{ contentRect }]) => {
        if (contentRect.width === 0 || contentRect.width === width) return;
        width = contentRect.width;
        update();
    });
    el.append(form);
    model.on("change", update);
    update();
    observer.observe(form.querySelector(".mh-atlas-map"));
    return () => {
        model.off("change", update);
        observer.disconnect();
        form.remove();
    };
}

// ---- still: for readers without JavaScript, and for print ----------------------------------------------------------

export function still(state) {
    const weights = unpackWeights(state._weights);
    const { _atlas: atlas, score, relation } = state;
    const table = scoreOf(state);
    const range = colourRange(table);
    const texts = readouts(state, weights);
    const map = mapOf(state, weights);
    const { tokens } = sentenceOf(state);
    const layout = mapLayout(tokens, 400, relation !== "");
    const label = (text) => `<span class="mh-axis-label">${text}</span>`;
    const rows = table.map((row, l) => label(l + 1) + row.map((value, i) =>
        `<span class="mh-head-cell ${l + 1 === state.layer && i + 1 === state.head ? "is-chosen" : ""}">` +
        `<span class="mh-face">${cellMarkup(value, range)}</span></span>`).join(""));
    return `<figure class="mh-still"><p>칸의 숫자는 ‘${escapeHtml(score)}’ 점수입니다.</p>` +
        `<div class="mh-scroll mh-atlas-grid" style="--layers:${atlas.layers};--heads:${atlas.heads}">` +
        `<div class="mh-atlas-cells">${label(GRID_CORNER)}` +
        `${numbersTo(atlas.heads).map(label).join("")}${rows.join("")}</div></div>` +
        `<p class="mh-legend">${legendMarkup(texts, range[0] < 0)}</p>` +
        `<p>헤드 <strong>${texts.head}</strong> · ${escapeHtml(score)} ${texts.value} (${texts.place})</p>` +
        `<div class="mh-scroll mh-map" style="--head:var(--linear)">` +
        `<svg role="img" aria-label="${escapeHtml(describeMap(state, map))}" ` +
        `viewBox="0 0 ${layout.width} ${layout.height}" width="${layout.width}" height="${layout.height}">` +
        `${mapMarkup(state, map, arcsOf(state, weights), layout)}</svg></div><p>${escapeHtml(texts.arcs)}</p>` +
        `<p class="mh-title">${escapeHtml(texts.list_title)}</p><ol class="mh-best">` +
        `${listRows(state).map((row) => `<li><span class="mh-best-row">${rowMarkup(row)}</span></li>`).join("")}</ol>` +
        `<p class="mh-small">${texts.baseline}</p></figure>`;
}

export { unpackWeights }; // for the tests
export default { render };
