// Shared by all widgets: index arithmetic, Korean numbers and small DOM helpers.
// Python joins this file in front of a widget's own file (base.py, join_module).

// ---- heads -------------------------------------------------------------------------------------------------------

// Number of colours in multihead.palette; head 12 starts again at the first one.
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

// The particle that fits the spoken number: josa(64, "은/는") -> "64는", josa(3, "으로/로") -> "3으로".
export function josa(n, pair) {
    const [afterConsonant, afterVowel] = pair.split("/");
    const digit = n % 10;
    const endsInVowel = [2, 4, 5, 9].includes(digit);
    const endsInRieul = [1, 7, 8].includes(digit);
    return n + (endsInVowel || (pair === "으로/로" && endsInRieul) ? afterVowel : afterConsonant);
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

// A typed value as a whole number in its range, with a sentence if it had to be changed. value is null if no number
// can be read.
export function clampInteger(text, [low, high], label) {
    const typed = text.trim() === "" ? NaN : Number(text);
    if (Number.isNaN(typed)) return { value: null, note: `${label}: 숫자를 읽을 수 없어 앞의 값을 그대로 둡니다.` };
    const value = Math.min(high, Math.max(low, Math.round(typed)));
    if (value === typed) return { value, note: "" };
    return {
        value,
        note: `${label}: ${low}부터 ${high}까지의 정수만 쓸 수 있어 ${text.trim()} 대신 ${josa(value, "을/를")} 씁니다.`,
    };
}

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

// A slider and a number box for one whole number. `change(value)` is called with a value that is in range, `say(note)`
// with a sentence about a typed value that was not. Returns the node and show(value).
export function numberControl({ name, label, range, step = 1, change, say }) {
    const [min, max] = range;
    let shown;
    const take = (value) => { say(""); change(value); };
    const slider = element("input", {
        type: "range", name, min, max, step, "aria-label": label,
        oninput: () => take(slider.valueAsNumber),
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
        slider.value = value;
        if (box.valueAsNumber !== value) box.value = value;
    };
    const node = element("div", { class: "mh-number" }, element("span", { class: "mh-label" }, label), slider, box);
    return { node, show };
}

// A row of native radio buttons that looks like one control. `options` holds [value, child, ...] for each button.
export function radioGroup({ name, legend, options, change }) {
    const buttons = options.map(([value, ...children]) =>
        element("label", { class: "mh-option" },
            element("input", { type: "radio", name, value, onchange: () => change(value) }), ...children));
    return element("fieldset", { class: `mh-radios mh-${name}` }, element("legend", { class: "mh-label" }, legend),
        element("div", { class: "mh-options" }, ...buttons));
}

export function checkRadio(group, value) {
    for (const input of group.querySelectorAll("input")) input.checked = input.value === String(value);
}
