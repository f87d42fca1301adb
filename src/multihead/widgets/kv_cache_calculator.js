// KVCacheCalculator: who shares which K and V, and how much memory that saves. The formula of counting.kv_cache_bytes.

import {
    checkRadio, element, formatBytes, formatNumber, formatRounded, groupFault, headStyle, numberControl, octaveStops,
    radioGroup, refresh,
} from "./core.js";

const LIMITS = {
    layers: [1, 128], h: [1, 128], g: [1, 128], d_k: [1, 256], T: [1, 1048576], batch: [1, 256],
};
const BYTES = { float32: 4, bfloat16: 2, int8: 1 };
const MIB = 2 ** 20;
const SINGLE_HEADS = 32; // more query heads than this are drawn as one circle with their number
const GROUPS = 8; // more groups of them than this, and the middle ones are left out

// ---- arithmetic ----------------------------------------------------------------------------------------------------

// A sliding window keeps its last tokens only.
const windowOf = ({ published }) => published?.window ?? Infinity;

// Bytes of one token, how many tokens of each sequence are kept, and the bytes of those of all sequences.
export function cache({ layers, g, d_k, T, batch, dtype, published }) {
    const token = 2 * layers * g * d_k * BYTES[dtype];
    const kept = Math.min(T, windowOf({ published }));
    return { token, kept, total: token * kept * batch };
}

// Tokens of each sequence that fit into a memory which holds nothing else.
export function tokensThatFit(state, memory) {
    const most = Math.floor(memory / (cache(state).token * state.batch));
    return most < windowOf(state) ? most : Infinity;
}

// The same model with all, with the chosen and with one KV head.
export const variants = ({ h, g }) => [...new Set([h, g, 1])];

const nameOf = ({ h, g }) => (h === 1 ? "헤드 하나" : g === h ? "MHA" : g === 1 ? "MQA" : "GQA");
const limitsOf = ({ h }) => ({ g: [1, h] });
const SIZES = [["layers", "layers"], ["h", "num_heads"], ["g", "num_kv_heads"], ["d_k", "d_k"]];
const sizesOf = (published) => Object.fromEntries(SIZES.map(([ours, theirs]) => [ours, published[theirs]]));

// The chosen published model, unless its sizes have been changed since.
function publishedModel({ model, models, ...state }) {
    const chosen = models.find(({ name }) => name === model);
    return chosen && SIZES.every(([ours, theirs]) => state[ours] === chosen[theirs]) ? chosen : undefined;
}

// What everything below reads: the settings, and what is known about the chosen model.
export function stateOf({ _models: models, _gpus: gpus, ...settings }) {
    const state = { ...settings, models, gpus };
    return { ...state, published: publishedModel(state) };
}

// ---- sentences -----------------------------------------------------------------------------------------------------

// Every number that the widget shows, as the reader sees it.
export function readouts(state) {
    const { h, batch, layers, g, d_k, dtype, gpus } = state;
    const { token, kept, total } = cache(state);
    const shown = {
        formula: `2 · ${layers} · ${g} · ${d_k} · ${BYTES[dtype]}`,
        token_bytes: `${formatNumber(token)}바이트`,
        token_memory: formatBytes(token),
        total_formula: `${formatNumber(token)} · ${formatNumber(kept)}${batch > 1 ? ` · ${batch}` : ""}`,
        total_bytes: `${formatNumber(total)}바이트`,
        total_memory: formatBytes(total),
    };
    for (const kv of variants(state)) {
        const other = cache({ ...state, g: kv });
        shown[`token_g${kv}`] = formatBytes(other.token);
        shown[`total_g${kv}`] = formatBytes(other.total);
        shown[`ratio_g${kv}`] = kv === h ? "" : `MHA의 ${h % kv ? `${h}분의 ${kv}` : `${h / kv}분의 1`}`;
    }
    gpus.forEach(({ mib }, i) => {
        const share = total / (mib * MIB);
        shown[`gpu${i}_memory`] = `${formatNumber(mib)} MiB = ${formatBytes(mib * MIB)}`;
        shown[`gpu${i}_share`] = share > 1
            ? `메모리의 ${formatRounded(share)}배라 들어가지 않습니다`
            : `메모리의 ${share < 0.0005 ? "0.1 % 미만" : `${(100 * share).toFixed(1)} %`}`;
        const tokens = tokensThatFit(state, mib * MIB);
        shown[`gpu${i}_tokens`] = tokens === Infinity ? "토큰이 몇 개든 들어갑니다" : `${formatNumber(tokens)}토큰까지`;
    });
    return { ...shown, explanation: explain(state), beyond: beyond(state) };
}

// What the formula says of a length that the model was not made for.
function beyond({ T, published }) {
    if (!published || T <= published.context) return "";
    return `이 모델은 한 번에 토큰 ${formatNumber(published.context)}개까지 읽도록 만들어졌습니다. ` +
        `T = ${formatNumber(T)}의 캐시는 식을 그 너머까지 늘려 계산한 값입니다.`;
}

function explain(state) {
    const { h, g, T, batch } = state;
    const { kept, total } = cache(state);
    const whose = h === 1
        ? "헤드가 하나뿐이라 나누어 쓸 것이 없습니다."
        : g === h
            ? `쿼리 헤드 ${h}개가 저마다 자기 K와 V를 씁니다(MHA).`
            : g === 1
                ? `쿼리 헤드 ${h}개가 모두 K와 V 한 벌을 함께 씁니다(MQA).`
                : `쿼리 헤드 ${h / g}개씩 K와 V 한 벌을 함께 씁니다(GQA, 모두 ${g}벌).`;
    const sequences = batch > 1 ? `시퀀스 ${batch}개, 시퀀스마다 토큰 ${formatNumber(T)}개` : `토큰 ${formatNumber(T)}개`;
    const which = kept < T ? ` 가운데 최근 ${formatNumber(kept)}개만 남습니다(슬라이딩 윈도). 이` : "의";
    return `${whose} ${sequences}${which} 캐시는 ${formatBytes(total)}입니다.`;
}

// ---- picture -------------------------------------------------------------------------------------------------------

// Circles are query heads, the square below them is the KV head that they share, all in the colour of this KV head.
function sharingMarkup({ h, g }) {
    const n = h / g;
    const single = h <= SINGLE_HEADS;
    const group = (kv) => {
        const circles = single ? "<i></i>".repeat(n) : `<i class="is-many">${n > 1 ? `×${n}` : ""}</i>`;
        return `<div class="mh-group" style="flex-grow:${single ? n : 1};${headStyle(kv)}">` +
            `<div class="mh-queries">${circles}</div><div class="mh-kv"></div></div>`;
    };
    const all = Array.from({ length: g }, (_, kv) => kv);
    const shortened = !single && g > GROUPS;
    const first = shortened ? all.slice(0, GROUPS - 3) : all;
    const rest = shortened ? `<div class="mh-more">… ${g - first.length - 1}개 더 …</div>${group(g - 1)}` : "";
    const label = `쿼리 헤드 ${h}개, KV 헤드 ${g}개: ${n === 1 ? "하나씩 짝을 이룹니다" : `${n}개마다 하나를 함께 씁니다`}.`;
    return `<div class="mh-sharing ${single ? "" : "is-summary"}" role="img" aria-label="${label}">` +
        `${first.map(group).join("")}${rest}</div>`;
}

function variantMarkup(kv, state, shown) {
    const { h, g } = state;
    const out = (name) => `<span data-out="${name}_g${kv}">${shown[`${name}_g${kv}`]}</span>`;
    return `<div class="mh-variant ${kv === g ? "is-current" : ""}" data-variant="${kv}">` +
        `<p class="mh-variant-name"><b>${nameOf({ h, g: kv })}</b> g = ${kv}${kv === g ? ' <em>지금</em>' : ""}</p>` +
        sharingMarkup({ h, g: kv }) +
        `<span class="mh-track"><span class="mh-bar mh-cache" style="width:${(100 * kv) / h}%"></span></span>` +
        `<p class="mh-variant-size">토큰마다 ${out("token")} · 모두 <b>${out("total")}</b> ` +
        `<span class="mh-small">${out("ratio")}</span></p></div>`;
}

function gpuMarkup({ name, mib }, i, state, shown) {
    const share = cache(state).total / (mib * MIB);
    const largest = Math.max(...state.gpus.map((gpu) => gpu.mib));
    return `<div class="mh-gpu ${share > 1 ? "is-full" : ""}" data-gpu="${name}"><p><b>${name}</b> ` +
        `<span class="mh-small" data-out="gpu${i}_memory">${shown[`gpu${i}_memory`]}</span></p>` +
        `<span class="mh-track is-framed" style="width:${(100 * mib) / largest}%">` +
        `<span class="mh-bar mh-cache" style="width:${100 * Math.min(1, share)}%"></span></span>` +
        `<p class="mh-gpu-size"><span data-out="gpu${i}_share">${shown[`gpu${i}_share`]}</span> · ` +
        `${state.batch > 1 ? "시퀀스마다 " : ""}<span data-out="gpu${i}_tokens">${shown[`gpu${i}_tokens`]}</span></p>` +
        "</div>";
}

function picture(state) {
    const shown = readouts(state);
    const out = (name) => `<span data-out="${name}">${shown[name]}</span>`;
    const unit = (name, bytes) => (bytes >= 1024 ? ` = <strong>${out(name)}</strong>` : "");
    const { token, total } = cache(state);
    return `<p class="mh-equation">토큰마다 2 · 층 · g · d_k · 바이트 = ${out("formula")} = ${out("token_bytes")}` +
        `${unit("token_memory", token)}</p>` +
        `<p class="mh-equation">모두 ${out("total_formula")} = ${out("total_bytes")}${unit("total_memory", total)}</p>` +
        `<p class="mh-say">${out("explanation")}</p>` +
        `${shown.beyond && `<p class="mh-say">${out("beyond")}</p>`}` +
        '<p class="mh-head">누가 어느 K와 V를 함께 쓰나 <span class="mh-small">같은 모델에서 g만 바꾸었습니다. ' +
        "위의 동그라미는 쿼리 헤드, 아래의 네모는 KV 헤드, 막대의 길이는 캐시의 크기입니다.</span></p>" +
        `<div class="mh-variants">${variants(state).map((kv) => variantMarkup(kv, state, shown)).join("")}</div>` +
        '<p class="mh-head">GPU 메모리에 얼마나 들어가나 <span class="mh-small">테두리는 GPU의 메모리, 채운 곳은 캐시</span></p>' +
        `<div class="mh-gpus">${state.gpus.map((gpu, i) => gpuMarkup(gpu, i, state, shown)).join("")}</div>` +
        '<p class="mh-small">가중치와 중간값도 같은 메모리에 있어야 하므로, 실제로 들어가는 토큰은 이보다 적습니다. ' +
        "1 KiB = 1,024바이트, 1 GiB = 1,024³바이트입니다. GPU 이름의 GB는 제조사의 표기이고, 계산에는 nvidia-smi가 보고하는 MiB를 " +
        "씁니다.</p>";
}

// What is known about the model: where its numbers come from, and what to look out for.
const sourceOf = (published) => (published ? `출처: ${published.source}` : "공개된 모델의 값이 아니라 직접 정한 값입니다.");
const noteOf = (published) => (published?.note ? `참고: ${published.note}` : "");

// ---- live widget ---------------------------------------------------------------------------------------------------

const NAMES = ["model", "layers", "h", "g", "d_k", "T", "batch", "dtype", "_models", "_gpus"];
const read = (model) => stateOf(Object.fromEntries(NAMES.map((name) => [name, model.get(name)])));

function render({ model, el }) {
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };
    const note = element("p", { class: "mh-note", role: "status", "data-out": "note" });
    const say = (text) => { note.textContent = text; };
    const { models } = read(model);
    const select = element("select", {
        name: "model", "aria-label": "모델",
        onchange: () => {
            const published = models.find(({ name }) => name === select.value);
            say("");
            set({ ...(published ? sizesOf(published) : {}), model: select.value });
        },
    }, element("option", { value: "" }, "직접 정하기"),
    ...models.map(({ name }) => element("option", { value: name }, name)));
    const source = element("p", { class: "mh-small", "data-out": "source" });
    const remark = element("p", { class: "mh-small", "data-out": "model_note" });

    const number = (name, label, options) => numberControl({ name, label, range: LIMITS[name], say, ...options });
    // A size of its own makes it another model.
    const size = (name, label) => number(name, label, {
        change: (value) => {
            const changed = { ...read(model), [name]: value };
            set({ [name]: value, model: publishedModel(changed) ? changed.model : "" });
        },
    });
    const free = (name, label, options) =>
        number(name, label, { change: (value) => set({ [name]: value }), ...options });
    const controls = {
        layers: size("layers", "층 수"),
        h: size("h", "헤드 수 h"),
        g: size("g", "KV 헤드 수 g"),
        d_k: size("d_k", "헤드의 차원 d_k"),
        T: free("T", "토큰 수 T", { stops: octaveStops(LIMITS.T) }),
        batch: free("batch", "배치(시퀀스 수)"),
    };
    const dtype = radioGroup({
        name: "dtype", legend: "숫자 하나의 크기", change: (value) => { say(""); set({ dtype: value }); },
        options: [
            ["float32", "float32 · 4바이트"], ["bfloat16", "bfloat16, float16 · 2바이트"], ["int8", "int8 · 1바이트"],
        ],
    });
    const alert = element("p", { class: "mh-alert", role: "alert", hidden: true });
    const body = element("div", { class: "mh-picture", "data-out": "picture" });
    const spoken = element("p", { class: "mh-spoken", "aria-live": "polite" });

    const form = element("form", {
        class: "mh", "data-widget": "KVCacheCalculator", "aria-label": "KV 캐시 계산기",
        onsubmit: (event) => event.preventDefault(),
    }, element("label", { class: "mh-select" }, element("span", { class: "mh-label" }, "모델"), select), source, remark,
    element("div", { class: "mh-controls" }, ...Object.values(controls).map(({ node }) => node)),
    dtype, note, alert, body, spoken);

    function update() {
        const state = read(model);
        const { published } = state;
        const fault = groupFault(state, limitsOf(state));
        select.value = published?.name ?? "";
        refresh(source, {}, sourceOf(published));
        refresh(remark, {}, noteOf(published));
        for (const [name, { show }] of Object.entries(controls)) show(state[name]);
        checkRadio(dtype, state.dtype);
        alert.textContent = fault ?? "";
        alert.hidden = fault === null;
        body.hidden = fault !== null;
        // Drawn anew each time: at most some 200 plain nodes, and the still has the same markup.
        body.innerHTML = fault ? "" : picture(state);
        spoken.textContent = fault ? "" : `${explain(state)} ${beyond(state)}`.trim();
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

export function still(settings) {
    const state = stateOf(settings);
    const fault = groupFault(state, limitsOf(state));
    if (fault) return `<figure class="mh-still"><p class="mh-alert">${fault}</p></figure>`;
    const { layers, h, g, d_k, T, batch, dtype, published } = state;
    return `<figure class="mh-still" aria-label="KV 캐시 계산기">` +
        `<p><b>${published?.name ?? "직접 정한 모델"}</b> ` +
        `<span class="mh-small">${sourceOf(published)} ${noteOf(published)}</span></p>` +
        `${picture(state)}<figcaption>층 ${layers}개, h = ${h}, g = ${g}, d_k = ${d_k}, T = ${formatNumber(T)}, ` +
        `배치 ${batch}, ${dtype}</figcaption></figure>`;
}

export default { render };
