// Shared by all widgets: index arithmetic, Korean numbers and small DOM helpers.
// Python joins this file in front of a widget's own file (base.py, join_module).

import { normalizeText } from "./text.js";

// ---- heads -------------------------------------------------------------------------------------------------------

// Number of colours in multihead.plots.palette; head 12 starts again at the first one.
export const HEAD_COLOURS = 12;

// The colour of a head, and the custom properties that give an element this colour and a readable ink on it.
export const headColour = (head) => `var(--head-${head % HEAD_COLOURS})`;
export const headStyle = (head) => `--head:${headColour(head)};--ink:var(--ink-${head % HEAD_COLOURS})`;

// Row-major strides of a freshly computed tensor.
const rowMajor = (shape) => shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));

// What torch's is_contiguous() says: axes of length 1 do not count.
export function isContiguous(shape, strides) {
    const expected = rowMajor(shape);
    return shape.every((length, axis) => length === 1 || strides[axis] === expected[axis]);
}

// Shape and strides of each step from (B, T, D) to (B, h, T, d_k), for one sentence (B = 1).
export function splitHeads({ h, d_model, T }) {
    const d_k = d_model / h;
    const of = (shape) => ({ shape, strides: rowMajor(shape) });
    const view = of([1, T, h, d_k]);
    const swap = ([b, t, n, k]) => [b, n, t, k];
    return {
        x: of([1, T, d_model]),
        view,
        heads: { shape: swap(view.shape), strides: swap(view.strides) },
        wrong: of([1, h, T, d_k]),
    };
}

// A chip is the d_k numbers of one token for one head. Without the transpose, place `position` of block `block` holds
// the chip that comes next in memory.
export function chipWithoutTranspose(block, position, { h, T }) {
    const flat = block * T + position;
    return { token: Math.floor(flat / h), head: flat % h };
}

// How many of the h * T places hold another token than the one they are meant for.
export function countWrongTokens({ h, T }) {
    let count = 0;
    for (let block = 0; block < h; block++) {
        for (let position = 0; position < T; position++) {
            if (chipWithoutTranspose(block, position, { h, T }).token !== position) count++;
        }
    }
    return count;
}

export const divisors = (n) => Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);

// ---- Korean numbers ----------------------------------------------------------------------------------------------

// 1050624 -> 1,050,624
export const formatNumber = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

// [1, 5, 64] -> (1, 5, 64), as Python prints a shape.
export const tuple = (numbers) => `(${numbers.join(", ")})`;

// At least three digits of a positive number: 4.00, 42.5, 512, 1,050,624.
export function formatRounded(n) {
    for (const decimals of [2, 1]) {
        const text = n.toFixed(decimals);
        if (Number(text) < 10 ** (3 - decimals)) return text;
    }
    return formatNumber(Math.round(n));
}

// Bytes in the largest unit that leaves at least 1: 131072 -> 128 KiB. 1 KiB = 1024 bytes, and so on.
export function formatBytes(bytes) {
    const units = ["바이트", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    for (; Math.round(bytes) >= 1024 && unit < units.length - 1; unit++) bytes /= 1024;
    return unit === 0 ? `${formatNumber(bytes)}바이트` : `${formatRounded(bytes)} ${units[unit]}`;
}

// The particle that fits the spoken number: josa(64, "은/는") -> "64는", josa(3, "으로/로") -> "3으로".
export function josa(n, pair) {
    const [afterConsonant, afterVowel] = pair.split("/");
    const digit = n % 10;
    const endsInVowel = [2, 4, 5, 9].includes(digit);
    const endsInRieul = [1, 7, 8].includes(digit);
    return formatNumber(n) + (endsInVowel || (pair === "으로/로" && endsInRieul) ? afterVowel : afterConsonant);
}

// Why these two do not go together, and what would; null if they do.
export function splitFault({ h, d_model }, limits) {
    if (d_model % h === 0) return null;
    const inside = (name) => (n) => limits[name][0] <= n && n <= limits[name][1];
    const around = divisors(d_model);
    const heads = [around.findLast((n) => n < h), around.find((n) => n > h)].filter(inside("h"));
    const quotient = Math.floor(d_model / h);
    const widths = [quotient * h, (quotient + 1) * h].filter(inside("d_model"));
    const either = (numbers) =>
        numbers.map((n, i) => josa(n, i < numbers.length - 1 ? "이나/나" : "으로/로")).join(" ");
    const ways = [];
    if (heads.length) ways.push(`h를 ${either(heads)}`);
    if (widths.length) ways.push(`d_model을 ${either(widths)}`);
    return (
        `d_model = ${josa(d_model, "은/는")} h = ${josa(h, "으로/로")} 나누어떨어지지 않습니다. ` +
        `몫은 ${quotient}, 나머지는 ${d_model % h}입니다. ` +
        `${ways.join(" 바꾸거나 ")} 바꾸면 나누어떨어집니다.`
    );
}

// Why h query heads cannot share g KV heads evenly, and what could; null if they can.
export function groupFault({ h, g }, limits) {
    if (h % g === 0) return null;
    const allowed = divisors(h).filter((n) => limits.g[0] <= n && n <= limits.g[1]);
    const around = [allowed.findLast((n) => n < g), allowed.find((n) => n > g)].filter((n) => n !== undefined);
    const either = around.map((n, i) => josa(n, i < around.length - 1 ? "이나/나" : "으로/로")).join(" ");
    const problem = g > h
        ? `KV 헤드 수 g = ${josa(g, "이/가")} 헤드 수 h = ${formatNumber(h)}보다 많습니다.`
        : `헤드 수 h = ${josa(h, "은/는")} KV 헤드 수 g = ${josa(g, "으로/로")} 나누어떨어지지 않습니다(나머지 ${h % g}).`;
    return `${problem} 쿼리 헤드를 같은 크기의 무리로 나누려면 g가 h의 약수여야 합니다. g를 ${either} 바꾸면 됩니다.`;
}

// A typed value as a whole number in its range, with a sentence if it had to be changed. value is null if no number
// can be read.
export function clampInteger(text, [low, high], label) {
    const typed = text.trim() === "" ? NaN : Number(text);
    if (Number.isNaN(typed)) return { value: null, note: `${label}: 숫자를 읽을 수 없어 앞의 값을 그대로 둡니다.` };
    const value = Math.min(high, Math.max(low, Math.round(typed)));
    if (value === typed) return { value, note: "" };
    return {
        value,
        note: `${label}: ${formatNumber(low)}부터 ${formatNumber(high)}까지의 정수만 쓸 수 있어 ` +
            `${text.trim()} 대신 ${josa(value, "을/를")} 씁니다.`,
    };
}

// What a reader typed, as text inside markup.
export const escapeHtml = (text) =>
    text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// ---- attention maps of a real model ------------------------------------------------------------------------------

// Weights as pack_weights in base.py wrote them: 16-bit numbers, low byte first, 10000 for a weight of 1.
export function unpackWeights(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true) / 10000);
}

const isWide = (token) => /[\u1100-\u11ff\u3040-\ud7ff\uf900-\ufaff]/.test(token);
// Roughly how wide a token is at 13 px.
export const tokenWidth = (token) => [...token].reduce((sum, c) => sum + (isWide(c) ? 13 : 7.6), 0);

// The corner of a grid of all heads. On a narrow screen the layers become columns (widget.css).
export const GRID_CORNER =
    '<span class="mh-when-wide">층 ↓ 헤드 →</span><span class="mh-when-narrow">헤드 ↓<br>층 →</span>';
export const numbersTo = (count) => Array.from({ length: count }, (_, i) => i + 1);

// ---- training runs: Timelapse and TrainingLab ----------------------------------------------------------------------

const SHADES = 20; // shades of a cell; one path a shade keeps a map small
const DASHES = ["", "", "5 3", "1.5 2.5"]; // the curves of the runs, so that colour alone need not tell them apart

// A map of T x T weights as bytes, 255 for a weight of 1.
export function shadesMarkup(bytes, T) {
    const paths = Array.from({ length: SHADES + 1 }, () => "");
    bytes.forEach((byte, i) => {
        paths[Math.round((byte * SHADES) / 255)] += `M${i % T},${Math.floor(i / T)}h1v1h-1z`;
    });
    // The palest shade is the ground.
    return paths.map((path, level) => (level && path
        ? `<path class="mh-cell" fill-opacity="${level / SHADES}" d="${path}"/>` : "")).join("");
}

export const tileMarkup = (head, T, label = "", map = "", text = "") =>
    `<div class="mh-tile" style="${headStyle(head)}"><div class="mh-row has-head">헤드 ${head}</div>` +
    `<svg role="img" viewBox="0 0 ${T} ${T}" shape-rendering="crispEdges" aria-label="${label}">${map}</svg>` +
    `<div class="mh-tile-text">${text}</div></div>`;

export const mapLabel = (h, head, { left, right }) =>
    `h = ${h}, 헤드 ${head}의 가중치 지도. 왼쪽 이웃에 ${left}, 오른쪽 이웃에 ${right}`;
export const mapCaption = ({ left, right }) =>
    `<span>왼쪽 <b>${left}</b></span> <span>오른쪽 <b>${right}</b></span>`;

// How many heads look at which neighbour. Rounded to bytes, two halves may both be a little more than a half.
export function rolesText(heads) {
    const looking = (side, other) => heads.filter((share) => share[side] > Math.max(0.5, share[other])).length;
    const [left, right] = [looking("left", "right"), looking("right", "left")];
    const neither = heads.length - left - right;
    return `절반 넘게 왼쪽을 보는 헤드 ${left}개, 오른쪽 ${right}개, 어느 쪽도 아닌 헤드 ${neither}개`;
}

const lineOf = (run) => `class="mh-run-line" data-run="${Math.min(run, DASHES.length - 1)}" ` +
    `stroke-dasharray="${DASHES[Math.min(run, DASHES.length - 1)]}"`;

// One line a run, through points [x, y] from 0 to 100, y downwards.
export function runCurves(runs) {
    const lines = runs.map((points, run) => {
        const path = points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
        return `<polyline ${lineOf(run)} points="${path}"/>`;
    });
    return '<svg viewBox="0 -3 100 106" preserveAspectRatio="none" aria-hidden="true">' +
        `<path class="mh-zero" d="M0,0H100M0,50H100M0,100H100"/>${lines.join("")}</svg>`;
}

export const runTitle = (run, h) => '<svg class="mh-run-swatch" viewBox="0 0 26 8" width="26" height="8" ' +
    `aria-hidden="true"><path ${lineOf(run)} d="M0,4H26"/></svg>h = ${h}`;

// ---- DOM ---------------------------------------------------------------------------------------------------------

// element("p", { class: "mh-note", onclick: f }, "text", child)
export function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
}

// Write only what differs: an unchanged node costs the browser neither style nor layout.
export function refresh(node, attributes, text) {
    for (const [name, value] of Object.entries(attributes)) {
        if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    if (text !== undefined && node.textContent !== text) node.textContent = text;
}

// Stops of a slider over several powers of 2: four an octave, among them 512, 640, 768, 896, 1024.
export function octaveStops([low, high]) {
    const stops = [];
    for (let power = 1; power <= high; power *= 2) stops.push(power, power * 1.25, power * 1.5, power * 1.75);
    return stops.filter((n) => Number.isInteger(n) && low <= n && n <= high);
}

// A slider and a number box for one whole number. `change(value)` is called with a value that is in range, `say(note)`
// with a sentence about a typed value that was not. With `stops` the slider goes from one of these values to the next.
// Returns the node and show(value).
export function numberControl({ name, label, range, step = 1, stops, change, say }) {
    const [min, max] = range;
    let shown;
    const take = (value) => { say(""); change(value); };
    const slider = element("input", {
        type: "range", name, "aria-label": label,
        ...(stops ? { min: 0, max: stops.length - 1, step: 1 } : { min, max, step }),
        oninput: () => take(stops ? stops[slider.valueAsNumber] : slider.valueAsNumber),
    });
    const box = element("input", {
        type: "number", name: `${name}_box`, min, max, inputmode: "numeric", "aria-label": `${label}, 숫자로 입력`,
        // Follow a number while it is being typed as soon as it is valid, but judge it only when the typing is done.
        oninput: () => { if (!clampInteger(box.value, range, label).note) take(box.valueAsNumber); },
        onchange: () => {
            const { value, note } = clampInteger(box.value, range, label);
            change(value ?? shown);
            say(note);
            box.value = shown;
        },
    });
    const show = (value) => {
        shown = value;
        slider.value = stops ? stops.findLastIndex((stop) => stop <= value) : value;
        if (stops) refresh(slider, { "aria-valuetext": formatNumber(value) });
        if (box.valueAsNumber !== value) box.value = value;
    };
    const node = element("div", { class: `mh-number ${max > 99999 ? "is-long" : ""}` },
        element("span", { class: "mh-label" }, label), slider, box);
    return { node, show };
}

// A box for a text. While a syllable is being composed nothing is written into it, and Enter waits until it is done. A
// text that means the same as what the reader has typed does not replace it. Returns the box and show(text).
export function textBox({ enter = () => {}, ...attributes }) {
    let [composing, entered] = [false, false];
    const box = element("input", {
        type: "text", autocomplete: "off", spellcheck: "false", ...attributes,
        oncompositionstart: () => { composing = true; },
        oncompositionend: () => {
            composing = false;
            if (entered) enter();
            entered = false;
        },
        onkeydown: (event) => {
            if (event.key !== "Enter") return;
            if (composing) {
                entered = true;
            } else {
                event.preventDefault();
                enter();
            }
        },
    });
    const show = (text) => {
        if (!composing && normalizeText(box.value) !== normalizeText(text)) box.value = text;
    };
    return { box, show };
}

// A row of native radio buttons that looks like one control. `options` holds [value, child, ...] for each button.
export function radioGroup({ name, legend, options, change }) {
    const buttons = options.map(([value, ...children]) =>
        element("label", { class: "mh-option" },
            element("input", { type: "radio", name, value, onchange: () => change(value) }), ...children));
    return element("fieldset", { class: `mh-radios mh-${name}` }, element("legend", { class: "mh-label" }, legend),
        element("div", { class: "mh-options" }, ...buttons));
}

// A list to choose from. `options` holds [value, text] for each; `change(value)` gets the value as text.
export function selectControl({ name, label, options, change }) {
    const select = element("select", { name, onchange: () => change(select.value) },
        ...options.map(([value, text]) => element("option", { value }, text)));
    const node = element("label", { class: "mh-select" }, element("span", { class: "mh-label" }, label), select);
    return { node, select };
}

// A check box as large as a finger. Returns the node and show(value).
export function checkControl({ name, label, change }) {
    const box = element("input", { type: "checkbox", name, onchange: () => change(box.checked) });
    const node = element("label", { class: "mh-check" }, box, element("span", {}, label));
    return { node, show: (value) => { box.checked = value; } };
}

export function checkRadio(group, value) {
    for (const input of group.querySelectorAll("input")) input.checked = input.value === String(value);
}

// All heads of a model as radio buttons: left and right go through the heads, up and down through the layers.
// `chosen()` is { layer, head } now, `choose(layer, head)` is called with another one; both count from 1.
// Returns the node and cells[layer - 1][head - 1] = { input, face }.
export function headGrid({ layers, heads, chosen, choose }) {
    const cells = numbersTo(layers).map((layer) => numbersTo(heads).map((head) => {
        const input = element("input", {
            type: "radio", name: "cell", value: `${layer}-${head}`, onchange: () => choose(layer, head),
        });
        const face = element("span", { class: "mh-face" });
        return { input, face, node: element("label", { class: "mh-head-cell" }, input, face) };
    }));
    const axis = (n) => element("span", { class: "mh-axis-label", "aria-hidden": "true" }, String(n));
    const corner = axis("");
    corner.innerHTML = GRID_CORNER;
    const node = element("fieldset", {
        class: "mh-atlas-grid", style: `--layers:${layers};--heads:${heads}`,
        onkeydown: (event) => {
            const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const { layer, head } = chosen();
            const next = Math.max(1, Math.min(layers, layer + step));
            choose(next, head);
            cells[next - 1][head - 1].input.focus();
        },
    }, element("legend", { class: "mh-small" }, "칸을 고르면 그 헤드의 지도를 그립니다."),
    element("div", { class: "mh-scroll" }, element("div", { class: "mh-atlas-cells" },
        corner, ...numbersTo(heads).map(axis),
        ...cells.flatMap((row, i) => [axis(i + 1), ...row.map((cell) => cell.node)]))));
    return { node, cells };
}
