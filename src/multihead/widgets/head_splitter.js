// HeadSplitter: the same chips of d_k numbers, laid out after each step from (B, T, D) to (B, h, T, d_k).

import {
    checkRadio, chipWithoutTranspose, countWrongTokens, element, formatNumber, headColour, headStyle, isContiguous,
    numberControl, radioGroup, refresh, splitFault, splitHeads, tuple,
} from "./core.js";

const LIMITS = { h: [1, 16], d_model: [8, 512], T: [2, 16] };

// A whole sentence for every T.
const SENTENCES = [
    "나는 먹었다",
    "나는 사과를 먹었다",
    "나는 빨간 사과를 먹었다",
    "나는 어제 빨간 사과를 먹었다",
    "나는 어제 빨간 사과를 맛있게 먹었다",
    "나는 시장에서 산 빨간 사과를 맛있게 먹었다",
    "나는 어제 시장에서 산 빨간 사과를 맛있게 먹었다",
    "나는 어제 시장에서 산 빨간 사과를 동생과 맛있게 먹었다",
    "나는 어제 시장에서 산 크고 빨간 사과를 동생과 맛있게 먹었다",
    "나는 어제 저녁 시장에서 산 크고 빨간 사과를 동생과 맛있게 먹었다",
    "나는 어제 저녁 시장에서 산 크고 빨간 사과를 동생과 나누어 맛있게 먹었다",
    "나는 어제 저녁 동네 시장에서 산 크고 빨간 사과를 동생과 나누어 맛있게 먹었다",
    "나는 어제 저녁 집 앞 시장에서 산 크고 빨간 사과를 동생과 나누어 맛있게 먹었다",
    "나는 어제 저녁 집 앞 시장에서 산 크고 빨간 사과를 동생과 반씩 나누어 맛있게 먹었다",
    "나는 어제 저녁 집 앞 시장에서 산 크고 잘 익은 사과를 동생과 반씩 나누어 맛있게 먹었다",
].map((sentence) => sentence.split(" "));
const wordsOf = (T) => SENTENCES[T - LIMITS.T[0]];

const STEPS = [
    { step: "x", name: "X·W", axes: "(B, T, D)" },
    { step: "view", name: "view", axes: "(B, T, h, d_k)" },
    { step: "heads", name: "transpose", axes: "(B, h, T, d_k)" },
    { step: "wrong", name: "transpose 없이", axes: "(B, h, T, d_k)?" },
];
const stepsOf = ({ compact }) => (compact ? STEPS.slice(0, 3) : STEPS);

function codeOf({ step, T, h, d_model }) {
    const d_k = d_model / h;
    return {
        x: "x = X @ W",
        view: `x.view(1, ${T}, ${h}, ${d_k})`,
        heads: `x.view(1, ${T}, ${h}, ${d_k}).transpose(1, 2)`,
        wrong: `x.view(1, ${h}, ${T}, ${d_k})`,
    }[step];
}

// What the reader sees in this step, in words.
function explain({ step, h, d_model, T }) {
    const d_k = d_model / h;
    const places = h * T;
    const wrong = countWrongTokens({ h, T });
    return {
        x: `한 행이 토큰 하나입니다. 숫자 ${d_model}개가 한 줄로 이어져 있고 아직 헤드는 없습니다. ` +
            "색은 어느 헤드로 갈지를 미리 보여 줍니다.",
        view: `행마다 숫자를 ${d_k}개씩 끊어 ${h}조각으로 나눕니다. 순서는 그대로이고, 읽는 방법만 바뀝니다.`,
        heads: `축 T와 축 h가 자리를 바꿉니다. 이제 한 행이 헤드 하나이고, 그 안에 토큰 ${T}개가 모두 들어 있습니다.`,
        wrong: wrong === 0
            ? "헤드가 하나뿐이면 바꿀 자리가 없어 두 결과가 같습니다. h를 2 이상으로 바꿔 보세요."
            : `모양은 같지만 ${places}자리 가운데 ${wrong}자리에 다른 토큰의 숫자가 들어 있습니다(점선).`,
    }[step];
}

// ---- layout: where everything is, in px ----------------------------------------------------------------------------

const CHIP = { height: 40, gap: 6, least: 48, most: 124, few: 64 }; // more than a few show their word only
const LABEL_WIDTH = 66;
const HEADER = 26;
const ROW = CHIP.height + 12; // a chip, the padding of its row, and the space to the next row

// The grids of a step: in each, `chipAt(row, column)` says which chip is there.
function gridsOf({ step, h, T, d_model }) {
    const tokens = wordsOf(T);
    const heads = Array.from({ length: h }, (_, i) => `헤드 ${i}`);
    const byToken = { rows: tokens, columns: heads, chipAt: (row, column) => ({ token: row, head: column }) };
    const byHead = { rows: heads, columns: tokens, chipAt: (row, column) => ({ token: column, head: row }) };
    return {
        x: [{ ...byToken, joined: true, header: `숫자 ${d_model}개` }],
        view: [byToken],
        heads: [byHead],
        // Of a large grid the right result is one step away, and not here too: all chips have to answer within a frame.
        wrong: [
            ...h * T <= CHIP.few ? [{ ...byHead, title: "맞는 결과: view 다음에 transpose" }] : [],
            { ...byHead, title: "틀린 결과: transpose 없이 view",
                chipAt: (row, column) => chipWithoutTranspose(row, column, { h, T }) },
        ],
    }[step];
}

// Everything to draw, as boxes. The chips of the last grid come first and in memory order, so that a chip keeps its
// place in the list, and its element, from step to step.
function layout(state, width, grids = gridsOf(state)) {
    const { h, T, d_model, step } = state;
    const d_k = d_model / h;
    const chipWidth = (count, space) => Math.floor((space - LABEL_WIDTH - 12 - (count - 1) * CHIP.gap) / count);
    let chip = Math.min(CHIP.most, Math.max(CHIP.least, chipWidth(Math.max(h, T), width)));
    const half = Math.floor((width - 28) / 2);
    const beside = grids.length === 2 && chipWidth(T, half) >= CHIP.least;
    if (beside) chip = Math.min(chip, chipWidth(T, half));

    const boxes = { chips: [], others: [], width: 0, height: 0 };
    let left = 0;
    let top = 0;
    for (const { rows, columns, chipAt, title, header, joined } of grids) {
        const gap = joined ? 0 : CHIP.gap;
        const rowWidth = columns.length * (chip + gap) - gap + 8;
        if (title) {
            boxes.others.push({ kind: "title", x: left, y: top, text: title });
            top += HEADER;
        }
        if (header) boxes.others.push({ kind: "column", x: left + LABEL_WIDTH, y: top, width: rowWidth, text: header });
        else columns.forEach((text, column) => {
            const x = left + LABEL_WIDTH + 4 + column * (chip + gap);
            boxes.others.push({ kind: "column", x, y: top, width: chip, text });
        });
        rows.forEach((text, row) => {
            const y = top + HEADER + row * ROW;
            const head = step === "heads" || step === "wrong" ? row : undefined;
            boxes.others.push({ kind: "row", x: left, y, width: LABEL_WIDTH - 8, height: CHIP.height + 8, text, head });
            boxes.others.push({ kind: "band", x: left + LABEL_WIDTH, y, width: rowWidth, height: CHIP.height + 8 });
            columns.forEach((_, column) => {
                const { token, head } = chipAt(row, column);
                boxes.chips.push({
                    kind: "chip", x: left + LABEL_WIDTH + 4 + column * (chip + gap), y: y + 4, width: chip,
                    height: CHIP.height, token, head, text: wordsOf(T)[token], joined, small: chip < 60,
                    range: h * T <= CHIP.few ? `${head * d_k}–${(head + 1) * d_k - 1}` : "",
                    cells: d_k * 4 <= chip ? d_k : 1, // narrower cells would be a blur
                    lost: step === "wrong" && token !== column,
                });
            });
        });
        boxes.width = Math.max(boxes.width, left + LABEL_WIDTH + rowWidth);
        boxes.height = Math.max(boxes.height, top + HEADER + rows.length * ROW);
        if (beside) [left, top] = [half + 28, 0];
        else top = boxes.height + 12;
    }
    const perGrid = h * T;
    const inMemory = (a, b) => a.token - b.token || a.head - b.head;
    boxes.chips = [boxes.chips.slice(-perGrid).sort(inMemory), boxes.chips.slice(0, -perGrid)].flat();
    return boxes;
}

const styleOf = ({ x, y, width, height, head, cells }) =>
    `transform:translate(${x}px,${y}px);` + (width ? `width:${width}px;` : "") + (height ? `height:${height}px;` : "") +
    (cells ? `--cells:${cells};` : "") + (head === undefined ? "" : headStyle(head));

const classOf = (box, followed) => [
    "mh-box", `mh-${box.kind}`, box.head !== undefined && "has-head", box.joined && "is-joined",
    box.small && "is-small", box.cells > 1 && "has-cells", box.lost && "is-lost", box.token === followed && "is-followed",
].filter(Boolean).join(" ");

const markup = (box, followed) =>
    `<div class="${classOf(box, followed)}" style="${styleOf(box)}">` +
    (box.kind === "chip" ? `<b>${box.text}</b><span>${box.range}</span>` : box.text ?? "") + "</div>";

// The picture in words, row by row.
function describe(state, grids = gridsOf(state)) {
    const words = wordsOf(state.T);
    const sentences = grids.map(({ title, rows, columns, chipAt }) => {
        const lines = rows.map((label, row) => {
            const chips = columns.map((_, column) => chipAt(row, column));
            return `${label}: ${chips.map(({ token, head }) => `${words[token]} ${head}`).join(", ")}`;
        });
        return `${title ? `${title}. ` : ""}${lines.join(". ")}.`;
    });
    return `행마다 놓인 조각(토큰과 헤드 번호). ${sentences.join(" ")}`;
}

// ---- live widget ---------------------------------------------------------------------------------------------------

const read = (model) => {
    const state = Object.fromEntries(
        ["h", "d_model", "T", "step", "token", "compact"].map((name) => [name, model.get(name)]));
    return { ...state, token: Math.min(state.token, state.T - 1) };
};

function render({ model, el }) {
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };
    const { compact } = read(model);

    // Controls. A form keeps the radio buttons of two widgets on one page apart.
    const note = element("p", { class: "mh-note", role: "status", "data-out": "note" });
    const say = (text) => { note.textContent = text; };
    const controls = {
        h: numberControl({ name: "h", label: "헤드 수 h", range: LIMITS.h, change: (h) => set({ h }), say }),
        d_model: numberControl({
            name: "d_model", label: "모델 차원 d_model", range: LIMITS.d_model, step: 8,
            change: (d_model) => set({ d_model }), say,
        }),
    };
    if (!compact) {
        controls.T = numberControl({
            name: "T", label: "토큰 수 T", range: LIMITS.T, say,
            change: (T) => set({ T, token: Math.min(model.get("token"), T - 1) }),
        });
    }
    const steps = radioGroup({
        name: "step", legend: "단계", change: (step) => set({ step }),
        options: stepsOf({ compact }).map(({ step, name, axes }) => [step,
            element("span", { class: "mh-step-name" }, name), element("span", { class: "mh-axes" }, axes),
            element("span", { "data-out": `shape_${step}` })]),
    });
    const tokens = element("div");

    // Readouts.
    const out = (name) => form.querySelector(`[data-out="${name}"]`);
    const readout = (name, label, style = "") => element("div", {},
        element("div", { class: "mh-label" }, label), element("div", { class: style, "data-out": name }));
    const readouts = element("div", { class: "mh-readouts" }, ...compact ? [] : [
        readout("code", "PyTorch", "mh-code"),
        readout("strides", "보폭(stride)", "mh-code"),
        readout("contiguous", "연속(contiguous)"),
    ]);
    const alert = element("p", { class: "mh-alert", role: "alert", hidden: true });
    const sentence = element("p", { class: "mh-say", "aria-live": "polite", "data-out": "explanation" });

    // Picture: labels and bands are drawn anew, chips are kept, so that they can move.
    const others = element("div");
    const chips = element("div", { class: "mh-chips" });
    const stage = element("div", { class: "mh-stage", role: "img" }, others, chips);
    const scroller = element("div", { class: "mh-scroll" }, stage);
    const memory = element("div", { class: "mh-memory" });
    const memoryText = element("p", { class: "mh-small", "data-out": "ranges" });
    const picture = element("div", { class: "mh-picture", "data-out": "picture" }, scroller);
    const below = element("div", { class: "mh-below" }, tokens, memoryText, memory);

    const form = element("form", {
        class: "mh", "data-widget": "HeadSplitter", "aria-label": "헤드 나누기", onsubmit: (event) => event.preventDefault(),
    }, element("div", { class: "mh-controls" }, ...Object.values(controls).map(({ node }) => node)), note,
    element("p", { class: "mh-equation" }, "d_k = d_model ÷ h = ", element("span", { "data-out": "division" }), " = ",
        element("strong", { "data-out": "d_k" })),
    alert, steps, readouts, sentence, picture, ...(compact ? [] : [below]));

    let width = 640;
    let hovered = null;
    let lastStep = null;

    function drawTokens({ T, token }) {
        if (tokens.childElementCount === 0 || tokens.firstChild.querySelectorAll("input").length !== T) {
            tokens.replaceChildren(radioGroup({
                name: "token", legend: "따라갈 토큰", change: (value) => set({ token: value }),
                options: wordsOf(T).map((word, index) => [index, word]),
            }));
        }
        checkRadio(tokens, token);
    }

    // Memory is one line of numbers, the same in every step.
    function drawMemory({ T, h, d_model, token }) {
        const row = Array.from({ length: h }, (_, i) => `${headColour(i)} ${(100 * i) / h}% ${(100 * (i + 1)) / h}%`);
        refresh(memory, { style: `--row:linear-gradient(90deg,${row});--T:${T};--token:${token}` });
        const word = wordsOf(T)[token];
        memoryText.textContent = `메모리에는 숫자 ${formatNumber(T * d_model)}개가 한 줄로 있고, 어느 단계에서도 움직이지 않습니다. ` +
            `‘${word}’의 숫자는 ${formatNumber(token * d_model)}번부터 ${formatNumber((token + 1) * d_model - 1)}번까지입니다.`;
    }

    function drawPicture(state) {
        const boxes = layout(state, width);
        const followed = hovered ?? state.token;
        stage.style.cssText = `width:${boxes.width}px;height:${boxes.height}px`;
        others.innerHTML = boxes.others.map((box) => markup(box)).join("");
        while (chips.childElementCount > boxes.chips.length) chips.lastChild.remove();
        while (chips.childElementCount < boxes.chips.length) {
            chips.append(element("div", {}, element("b"), element("span")));
        }
        // Only a change of step moves the chips; sliders answer at once.
        chips.classList.toggle("is-moving", lastStep !== null && lastStep !== state.step);
        lastStep = state.step;
        boxes.chips.forEach((box, index) => {
            const chip = chips.children[index];
            refresh(chip, { class: classOf(box, followed), style: styleOf(box), "data-token": String(box.token) });
            refresh(chip.firstChild, {}, box.text);
            refresh(chip.lastChild, {}, box.range);
        });
        stage.setAttribute("aria-label", describe(state));
        if (boxes.width > width) scroller.setAttribute("tabindex", "0");
        else scroller.removeAttribute("tabindex");
    }

    function update() {
        hovered = null;
        const state = read(model);
        const { h, d_model, step } = state;
        const fault = splitFault(state, LIMITS);
        for (const [name, { show }] of Object.entries(controls)) show(state[name]);
        checkRadio(steps, step);

        alert.textContent = fault ?? "";
        alert.hidden = fault === null;
        for (const node of [readouts, sentence, picture, below]) node.hidden = fault !== null;
        const split = fault === null && splitHeads(state);
        out("division").textContent = `${d_model} ÷ ${h}`;
        out("d_k").textContent = split ? d_model / h : "–";
        for (const { step } of stepsOf({ compact })) {
            out(`shape_${step}`).textContent = split ? tuple(split[step].shape) : "–";
        }
        sentence.textContent = split ? explain(state) : "";
        if (!compact) {
            const { shape, strides } = split ? split[step] : {};
            out("code").textContent = split ? codeOf(state) : "–";
            out("strides").textContent = split ? tuple(strides) : "–";
            out("contiguous").textContent = split ? (isContiguous(shape, strides) ? "예" : "아니요") : "–";
        }
        if (!split) {
            others.replaceChildren();
            chips.replaceChildren();
            memoryText.textContent = "";
            stage.removeAttribute("aria-label");
            lastStep = null;
            return;
        }
        drawPicture(state);
        if (!compact) {
            drawTokens(state);
            drawMemory(state);
        }
    }

    // Pointing at a chip follows its token for the moment, a click keeps it. Only a pointer that moves points: a chip
    // may also come to lie under a resting one.
    const tokenAt = (event) => event.target.closest(".mh-chip")?.dataset.token;
    function hover(token) {
        const now = token === undefined ? null : Number(token);
        if (now === hovered || chips.childElementCount === 0) return;
        hovered = now;
        const followed = hovered ?? read(model).token;
        for (const chip of chips.children) {
            chip.classList.toggle("is-followed", Number(chip.dataset.token) === followed);
        }
        if (!compact) drawMemory({ ...read(model), token: followed });
    }
    chips.addEventListener("pointermove", (event) => hover(tokenAt(event)));
    chips.addEventListener("pointerleave", () => hover());
    chips.addEventListener("click", (event) => {
        const token = tokenAt(event);
        if (token !== undefined) set({ token: Number(token) });
    });

    const observer = new ResizeObserver(([{ contentRect }]) => {
        if (contentRect.width === 0 || contentRect.width === width) return;
        width = contentRect.width;
        if (!picture.hidden) drawPicture(read(model));
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

// The steps below each other, since nobody can step through them.
export function still(state) {
    const { h, d_model, T, compact, token } = state;
    const fault = splitFault(state, LIMITS);
    if (fault) return `<figure class="mh-still"><p class="mh-alert">${fault}</p></figure>`;
    const shapes = splitHeads(state);
    const pictures = stepsOf({ compact }).slice(1).map(({ step }) => {
        const at = { ...state, step };
        const grids = gridsOf(at).slice(-1); // the right result needs no second picture
        const boxes = layout(at, 640, grids);
        return `<p><code>${codeOf(at)}</code> → <code>${tuple(shapes[step].shape)}</code><br>${explain(at)}</p>` +
            '<div class="mh-scroll">' +
            `<div class="mh-stage" role="img" aria-label="${describe(at, grids)}" ` +
            `style="width:${boxes.width}px;height:${boxes.height}px">` +
            [...boxes.others, ...boxes.chips].map((box) => markup(box, token)).join("") + "</div></div>";
    });
    return `<figure class="mh-still">${pictures.join("")}<figcaption>h = ${h}, d_model = ${d_model}, T = ${T}, ` +
        `d_k = ${d_model / h}</figcaption></figure>`;
}

export default { render };
