// ParameterCounter: parameters as areas, FLOPs as lengths, and where T² overtakes D². The formulas of counting.py.

import {
    checkControl, divisors, element, formatBytes, formatNumber, groupFault, headColour, josa, numberControl,
    octaveStops, splitFault,
} from "./core.js";

const LIMITS = { h: [1, 64], d_model: [8, 4096], T: [1, 16384], g: [1, 64] };
const PARTS = [["projections", "투영"], ["scores", "점수"], ["weighted_sum", "가중합"]];

// ---- arithmetic ----------------------------------------------------------------------------------------------------

export function count({ h, d_model, bias, T, g }) {
    const d_k = d_model / h;
    const d_kv = (g ?? h) * d_k;
    const widths = { W_Q: d_model, W_K: d_kv, W_V: d_kv, W_O: d_model };
    const parameters = {};
    for (const [name, width] of Object.entries(widths)) parameters[name] = width * (d_model + Number(bias));
    const flops = {
        projections: 2 * (2 * T * d_model * d_model + 2 * T * d_model * d_kv),
        scores: 2 * T * T * d_model,
        weighted_sum: 2 * T * T * d_model,
    };
    const sum = (numbers) => Object.values(numbers).reduce((a, b) => a + b);
    return {
        d_k, widths, parameters, flops, total: sum(parameters), total_flops: sum(flops),
        mha_total: 4 * d_model * (d_model + Number(bias)),
        // 4 T² D of scores and weighted sum equals 4 T D (D + g d_k) of projections here.
        crossover: d_model + d_kv,
        score_bytes: h * T * T * 4,
    };
}

const faultOf = ({ h, d_model, g }) => splitFault({ h, d_model }, LIMITS) ?? groupFault({ h, g: g ?? h }, LIMITS);

// ---- sentences -----------------------------------------------------------------------------------------------------

// Every number that the widget shows, as the reader sees it.
export function readouts(state) {
    const { h, d_model, T } = state;
    const { d_k, widths, parameters, flops, total, total_flops, crossover, score_bytes } = count(state);
    const shown = { division: `${formatNumber(d_model)} ÷ ${h}`, d_k: formatNumber(d_k) };
    for (const [name, number] of Object.entries(parameters)) {
        const [rows, columns] = name === "W_O" ? [widths.W_Q, d_model] : [d_model, widths[name]];
        shown[`shape_${name}`] = `${formatNumber(rows)} × ${formatNumber(columns)}`;
        shown[name] = `${formatNumber(number)}개`;
    }
    for (const [name] of PARTS) {
        shown[name] = formatNumber(flops[name]);
        shown[`${name}_share`] = `${((100 * flops[name]) / total_flops).toFixed(1)} %`;
    }
    return {
        ...shown,
        total: `${formatNumber(total)}개`,
        total_flops: formatNumber(total_flops),
        crossover: formatNumber(crossover),
        T: formatNumber(T),
        score_bytes: `${formatNumber(score_bytes)}바이트`,
        score_memory: formatBytes(score_bytes),
        about_h: aboutHeads(state),
        about_T: aboutLength(state),
    };
}

// What h does to the total: nothing, as long as every head has K and V of its own.
function aboutHeads({ h, d_model, bias, g }) {
    const { total, mha_total } = count({ h, d_model, bias, g, T: 1 });
    const possible = divisors(d_model).filter((n) => n <= LIMITS.h[1]);
    const some = [...new Set([1, h, possible.at(-1)])].sort((a, b) => a - b);
    const either = `h가 ${some.map((n) => josa(n, "이든/든")).join(" ")}`;
    if ((g ?? h) === h) {
        return `${either} 파라미터는 모두 ${formatNumber(mha_total)}개입니다. ` +
            "h · d_k가 언제나 d_model이라, h는 합계를 바꾸지 않고 그것을 나누는 방법만 바꿉니다.";
    }
    return `KV 헤드가 ${g}개뿐이라 W_K와 W_V가 ${formatNumber(h / g)}분의 1로 줄어, 합계가 ${formatNumber(mha_total)}개에서 ` +
        `${formatNumber(total)}개가 됩니다. g = h로 두면 ${either} 합계는 ${formatNumber(mha_total)}개로 같습니다.`;
}

// Where T² overtakes D², and on which side of it T is.
function aboutLength({ T, g, ...state }) {
    const { crossover, flops, total_flops } = count({ T, g, ...state });
    const quadratic = flops.scores + flops.weighted_sum;
    const percent = (part) => `${((100 * part) / total_flops).toFixed(1)} %`;
    const where = (g ?? state.h) === state.h ? "2 · d_model" : "d_model + g · d_k";
    const rule = `T²에 비례하는 점수와 가중합은 T = ${where} = ${formatNumber(crossover)}에서 ` +
        "D²에 비례하는 투영과 같아지고, 그보다 길면 앞지릅니다. " +
        `인과 마스크로 가린 절반을 건너뛰는 커널에서는 그 길이가 두 배인 ${formatNumber(2 * crossover)}입니다.`;
    if (T === crossover) return `${rule} 지금이 바로 그 T입니다.`;
    if (T < crossover) return `${rule} 지금 T = ${josa(T, "은/는")} 그보다 짧아서 투영이 ${percent(flops.projections)}로 더 큽니다.`;
    return `${rule} 지금 T = ${josa(T, "은/는")} 그보다 길어서 점수와 가중합이 ${percent(quadratic)}로 더 큽니다.`;
}

// ---- picture -------------------------------------------------------------------------------------------------------

// n stripes of equal width in the head colours, as a background.
function stripes(n, angle) {
    const stops = Array.from({ length: n }, (_, i) => `${headColour(i)} ${(100 * i) / n}% ${(100 * (i + 1)) / n}%`);
    return `linear-gradient(${angle},${stops.join(",")})`;
}

// The rows of a matrix are its inputs, the columns its outputs: Q, K and V have a head in each stripe of columns, W_O
// reads a head in each stripe of rows. The bias is one more row. The square stands for d_model inputs and outputs.
function matrixMarkup(name, state, shown) {
    const { h, d_model, bias } = state;
    const heads = name === "W_K" || name === "W_V" ? state.g ?? h : h;
    const percent = (100 * heads) / h;
    const isOutput = name === "W_O";
    const label = `${name}: 가중치 ${shown[`shape_${name}`]}, ${isOutput ? "행" : "열"}이 헤드 ${heads}개로 나뉩니다. ` +
        `${bias ? "편향까지 " : ""}${shown[name]}.`;
    return `<div class="mh-matrix"><div class="mh-square" role="img" aria-label="${label}" ` +
        `style="aspect-ratio:${d_model}/${d_model + Number(bias)}"><div class="mh-area" data-area="${name}" ` +
        `style="width:${percent}%;background:${stripes(heads, isOutput ? "180deg" : "90deg")}">` +
        (bias ? `<div class="mh-bias" style="height:${100 / (d_model + 1)}%"></div>` : "") + "</div></div>" +
        `<div class="mh-caption"><b>${name}</b> <span data-out="shape_${name}">${shown[`shape_${name}`]}</span>` +
        `${bias ? " + 편향" : ""}<br><span data-out="${name}">${shown[name]}</span></div>` +
        `${name === "W_Q" ? rulerMarkup(d_model) : ""}</div>`;
}

// The squares are always as wide as the page allows: the ruler tells what their size stands for.
function rulerMarkup(d_model) {
    const length = 2 ** Math.floor(Math.log2(d_model / 2));
    const width = `width:${(100 * length) / d_model}%`;
    return `<div class="mh-ruler" style="${width}" aria-hidden="true">${formatNumber(length)}</div>`;
}

function barMarkup([name, label], { flops, total_flops }, shown) {
    return `<div class="mh-bar-row"><span class="mh-bar-label">${label}</span>` +
        `<span class="mh-track"><span class="mh-bar mh-${name}" data-bar="${name}" ` +
        `style="width:${(100 * flops[name]) / total_flops}%"></span></span>` +
        `<span class="mh-bar-value" data-out="${name}">${shown[name]}</span>` +
        `<span class="mh-small" data-out="${name}_share">${shown[`${name}_share`]}</span></div>`;
}

// The share of each part for every T from 1 to 16384, on a logarithmic axis; the line is the T of the widget.
function curveMarkup({ T, ...state }) {
    const octaves = Math.log2(LIMITS.T[1]);
    const x = (length) => (100 * Math.log2(length)) / octaves;
    const points = Array.from({ length: 4 * octaves + 1 }, (_, i) => {
        const { flops, total_flops } = count({ T: 2 ** (i / 4), ...state });
        return [(100 * i) / (4 * octaves), (100 * flops.projections) / total_flops];
    });
    const path = points.map(([at, share]) => `${at.toFixed(2)} ${(100 - share).toFixed(2)}`).join("L");
    const { crossover } = count({ T, ...state });
    const side = (at) => (at > 60 ? "is-left" : "");
    const flag = (at, kind, text) =>
        `<div class="mh-flag ${kind} ${side(at)}" style="left:${at}%"><span>${text}</span></div>`;
    const axis = [1, 32, 1024].map((at) => `<span style="left:${x(at)}%">${formatNumber(at)}</span>`).join("");
    return `<div class="mh-curve" role="img" aria-label="T가 1에서 16,384까지 길어질 때 투영의 몫은 줄고 점수와 가중합의 몫은 늡니다. ` +
        `T = ${formatNumber(crossover)}에서 절반씩입니다.">` +
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">' +
        '<path class="mh-weighted_sum" d="M0 0H100V100H0Z"/>' +
        `<path class="mh-projections" d="M0 100L${path}L100 100Z"/></svg>` +
        '<b class="mh-on-projections">투영</b><b class="mh-on-quadratic">점수와 가중합</b>' +
        flag(x(crossover), "is-crossover", `절반: ${formatNumber(crossover)}`) +
        flag(x(T), "is-now", `지금: ${formatNumber(T)}`) +
        `</div><div class="mh-axis" aria-hidden="true">${axis}<span style="left:100%">16,384</span></div>`;
}

function picture(state) {
    const shown = readouts(state);
    const counts = count(state);
    const out = (name) => `<span data-out="${name}">${shown[name]}</span>`;
    return '<div class="mh-fluid"><div class="mh-matrices">' +
        Object.keys(counts.parameters).map((name) => matrixMarkup(name, state, shown)).join("") + "</div></div>" +
        `<p class="mh-sum">파라미터 합계 <strong>${out("total")}</strong></p>` +
        `<p class="mh-say">${out("about_h")}</p>` +
        `<p class="mh-head">계산량 <span class="mh-small">FLOPs, 토큰 ${out("T")}개를 한 번 처리할 때. ` +
        "곱하고 더하는 것을 2로 셉니다.</span></p>" +
        `<div class="mh-fluid"><div class="mh-bars">${PARTS.map((part) => barMarkup(part, counts, shown)).join("")}` +
        `<div class="mh-bar-row is-sum"><span class="mh-bar-label">합계</span>` +
        `<span class="mh-bar-value" data-out="total_flops">${shown.total_flops}</span></div></div></div>` +
        `<p class="mh-head">T에 따른 계산량의 몫 <span class="mh-small">가로축은 T(로그), 지금과 같은 d_model, h, g</span></p>` +
        `${curveMarkup(state)}<p class="mh-say">${out("about_T")}</p>` +
        `<p class="mh-head">점수 메모리 <span class="mh-small">배치 1, float32(4바이트)</span></p>` +
        `<p>4 · h · T² = 4 · ${state.h} · ${shown.T}² = ${out("score_bytes")}` +
        `${counts.score_bytes >= 1024 ? ` = <strong>${out("score_memory")}</strong>` : ""}. ` +
        "파라미터와 달리 h에 비례합니다. 융합 커널(FlashAttention)은 이 행렬을 메모리에 쓰지 않습니다.</p>";
}

// ---- live widget ---------------------------------------------------------------------------------------------------

const read = (model) => Object.fromEntries(["h", "d_model", "bias", "T", "g"].map((name) => [name, model.get(name)]));

function render({ model, el }) {
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };
    const note = element("p", { class: "mh-note", role: "status", "data-out": "note" });
    const say = (text) => { note.textContent = text; };
    const number = (name, label, options) =>
        numberControl({ name, label, range: LIMITS[name], change: (value) => set({ [name]: value }), say, ...options });
    const controls = {
        h: number("h", "헤드 수 h"),
        d_model: number("d_model", "모델 차원 d_model", { step: 8 }),
        T: number("T", "토큰 수 T", { stops: octaveStops(LIMITS.T) }),
        g: number("g", "KV 헤드 수 g"),
    };
    const follow = checkControl({
        name: "g_is_h", label: "g = h로 두기(MHA)",
        change: (on) => { say(""); set({ g: on ? null : model.get("h") }); },
    });
    const bias = checkControl({
        name: "bias", label: "편향(bias) 두기", change: (on) => { say(""); set({ bias: on }); },
    });
    const division = element("span", { "data-out": "division" });
    const d_k = element("strong", { "data-out": "d_k" });
    const alert = element("p", { class: "mh-alert", role: "alert", hidden: true });
    const body = element("div", { class: "mh-picture", "data-out": "picture" });
    const spoken = element("p", { class: "mh-spoken", "aria-live": "polite" });

    const form = element("form", {
        class: "mh", "data-widget": "ParameterCounter", "aria-label": "파라미터 세기",
        onsubmit: (event) => event.preventDefault(),
    }, element("div", { class: "mh-controls is-paired" }, ...Object.values(controls).map(({ node }) => node)),
    element("div", { class: "mh-checks" }, follow.node, bias.node), note,
    element("p", { class: "mh-equation" }, "d_k = d_model ÷ h = ", division, " = ", d_k), alert, body, spoken);

    function update() {
        const state = read(model);
        const fault = faultOf(state);
        for (const [name, { show }] of Object.entries(controls)) show(state[name] ?? state.h);
        follow.show(state.g === null);
        bias.show(state.bias);
        const divides = state.d_model % state.h === 0;
        division.textContent = `${formatNumber(state.d_model)} ÷ ${state.h}`;
        d_k.textContent = divides ? formatNumber(state.d_model / state.h) : "–";
        alert.textContent = fault ?? "";
        alert.hidden = fault === null;
        body.hidden = fault !== null;
        // Drawn anew each time: some 60 plain nodes, and the still has the same markup.
        body.innerHTML = fault ? "" : picture(state);
        const { total, about_T } = fault ? {} : readouts(state);
        spoken.textContent = fault ? "" : `파라미터 ${total}. ${about_T}`;
    }

    el.append(form);
    model.on("change", update);
    update();
    return () => {
        model.off("change", update);
        form.remove();
    };
}

// ---- still: for readers without JavaScript, and for print ----------------------------------------------------------

export function still(state) {
    const { h, d_model, T, bias, g } = state;
    const fault = faultOf(state);
    if (fault) return `<figure class="mh-still"><p class="mh-alert">${fault}</p></figure>`;
    return `<figure class="mh-still" aria-label="파라미터 세기">${picture(state)}<figcaption>h = ${h}, ` +
        `d_model = ${formatNumber(d_model)}, g = ${g ?? h}, T = ${formatNumber(T)}, ` +
        `편향 ${bias ? "있음" : "없음"}, d_k = ${formatNumber(d_model / h)}</figcaption></figure>`;
}

export default { render };
