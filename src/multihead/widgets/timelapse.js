// Timelapse: recorded training runs side by side, from the first step to the last. Nothing is trained here.

import {
    element, escapeHtml, formatNumber, mapCaption, mapLabel, refresh, rolesText, runCurves, runTitle, shadesMarkup,
    tileMarkup,
} from "./core.js";

const FRAME_MS = 160; // between two recorded steps while playing
const CALM_FRAME_MS = 700; // the same for readers who want less motion

// ---- what was recorded ---------------------------------------------------------------------------------------------

// The weights as bytes, and where they lie: by step, run, head, query, key.
export function unpack({ _recording: { steps, tokens, runs }, _maps }) {
    const bytes = Uint8Array.from(atob(_maps), (c) => c.charCodeAt(0));
    const cells = tokens.length ** 2;
    const first = []; // index of a run's head 0 among the heads of all runs
    let heads = 0;
    for (const { h } of runs) {
        first.push(heads);
        heads += h;
    }
    const map = (frame, run, head) => {
        const start = (frame * heads + first[run] + head) * cells;
        return bytes.subarray(start, start + cells);
    };
    return { steps, tokens, runs, map };
}

// The recorded step that is shown for `step`: Python takes only recorded ones, a linked slider may send any.
export const frameOf = ({ steps }, step) => Math.max(0, steps.findLastIndex((recorded) => recorded <= step));

// How much a map gives to the left and to the right neighbour, on average over the inner queries.
export function shares(bytes, T) {
    let [left, right] = [0, 0];
    for (let query = 1; query < T - 1; query++) {
        left += bytes[query * T + query - 1];
        right += bytes[query * T + query + 1];
    }
    const all = 255 * (T - 2);
    return { left: left / all, right: right / all };
}

// ---- numbers and sentences -----------------------------------------------------------------------------------------

const percent = (share) => `${(100 * share).toFixed(1)} %`;

// Every number that the widget shows at a frame, as the reader sees it.
export function readouts(data, frame) {
    const T = data.tokens.length;
    return data.runs.map(({ h, both, losses }, run) => {
        const heads = Array.from({ length: h }, (_, head) => shares(data.map(frame, run, head), T));
        return {
            h, both: percent(both[frame]), loss: losses[frame].toFixed(2),
            heads: heads.map((share) => ({ left: share.left.toFixed(2), right: share.right.toFixed(2) })),
            roles: rolesText(heads),
        };
    });
}

const stepText = ({ steps }, frame) => `${formatNumber(steps[frame])} / ${formatNumber(steps.at(-1))}걸음`;
const summarise = ({ steps }, frame, shown) =>
    `${formatNumber(steps[frame])}걸음. 두 답이 모두 맞은 자리: ` +
    `${shown.map(({ h, both }) => `h = ${h}에서 ${both}`).join(", ")}`;
const EXPLANATION = "지도의 행은 쿼리, 열은 키입니다. " +
    "대각선 바로 아래가 진하면 왼쪽 이웃을, 바로 위가 진하면 오른쪽 이웃을 봅니다. 지도 아래의 숫자는 그 지도에서 양쪽 이웃이 받은 가중치의 평균입니다.";

// ---- pictures: SVG text, the same for the widget and for the still -------------------------------------------------

// Accuracy over the steps, 1 at the top.
const accuracyMarkup = ({ steps, runs }) => runCurves(runs.map(({ both }) =>
    both.map((share, i) => [(100 * steps[i]) / (steps.at(-1) || 1), 100 - 100 * share])));

function axesMarkup({ steps }) {
    return '<span class="mh-level" style="top:2.8%">100 %</span><span class="mh-level" style="top:50%">50 %</span>' +
        '<div class="mh-axis"><span style="left:0">0걸음</span>' +
        `<span style="left:100%">${formatNumber(steps.at(-1))}걸음</span></div>`;
}

const runText = ({ h, both, loss, roles }) =>
    `<p>두 답이 모두 맞은 자리 <strong data-out="both_${h}">${both}</strong> <span class="mh-small">손실 ` +
    `<span data-out="loss_${h}">${loss}</span></span></p><p class="mh-small" data-out="roles_${h}">${roles}</p>`;

// ---- live widget ---------------------------------------------------------------------------------------------------

function render({ model, el }) {
    const data = unpack({ _recording: model.get("_recording"), _maps: model.get("_maps") });
    const { steps, tokens, runs } = data;
    const T = tokens.length;
    const last = steps.length - 1;
    const frame = () => frameOf(data, model.get("step"));
    const goTo = (index) => { model.set("step", steps[index]); model.save_changes(); };

    let timer = null;
    const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? CALM_FRAME_MS : FRAME_MS;
    function stop() {
        clearTimeout(timer);
        timer = null;
        showPlaying();
        announce();
    }
    function advance() {
        goTo(frame() + 1);
        if (frame() === last) return stop();
        timer = setTimeout(advance, pace);
    }
    function toggle() {
        if (timer !== null) return stop();
        if (frame() === last) goTo(0);
        timer = setTimeout(advance, pace);
        showPlaying();
    }

    const play = element("button", { type: "button", name: "play", class: "mh-play", onclick: toggle });
    const showPlaying = () => { play.textContent = timer === null ? "▶ 재생" : "❚❚ 멈춤"; };
    const slider = element("input", {
        type: "range", name: "step", min: 0, max: last, step: 1, "aria-label": "학습 걸음",
        oninput: () => { if (timer !== null) stop(); goTo(slider.valueAsNumber); },
    });
    const now = element("span", { "data-out": "step" });
    const spoken = element("p", { class: "mh-spoken", "aria-live": "polite" });
    const curve = element("div", { class: "mh-training", role: "img" });
    curve.innerHTML =
        `<div class="mh-curve">${accuracyMarkup(data)}<div class="mh-flag is-now"></div></div>${axesMarkup(data)}`;

    const cards = runs.map(({ h }, run) => {
        const card = element("section", { class: "mh-run", "aria-label": `h = ${h}`, "data-h": h });
        card.innerHTML = `<p class="mh-title">${runTitle(run, h)}</p><div class="mh-run-text"></div>`;
        const maps = element("div", { class: "mh-run-maps", style: `--columns:${Math.min(h, 4)}` });
        for (let head = 0; head < h; head++) {
            maps.insertAdjacentHTML("beforeend", tileMarkup(head, T));
        }
        card.append(maps);
        return card;
    });

    const root = element("form", {
        class: "mh", "data-widget": "Timelapse", "aria-label": "학습 되감아 보기",
        onsubmit: (event) => event.preventDefault(),
    },
    element("div", { class: "mh-play-row" }, play,
        element("div", { class: "mh-number is-alone" }, element("span", { class: "mh-label" }, "학습 걸음 ", now), slider)),
    element("p", { class: "mh-head" }, "두 답이 모두 맞은 자리의 비율"), curve,
    element("div", { class: "mh-runs" }, ...cards),
    element("p", { class: "mh-small", "data-out": "tokens" }, `지도의 문장: ${tokens.join(" ")}`),
    element("p", { class: "mh-small" }, EXPLANATION), spoken);

    function announce() {
        refresh(spoken, {}, summarise(data, frame(), readouts(data, frame())));
    }

    function update() {
        const at = frame();
        const shown = readouts(data, at);
        slider.value = at;
        refresh(slider, { "aria-valuetext": `${formatNumber(steps[at])}걸음` });
        refresh(now, {}, stepText(data, at));
        refresh(curve, { "aria-label": `정답률 곡선. ${summarise(data, at, shown)}` });
        refresh(curve.querySelector(".is-now"), { style: `left:${(100 * steps[at]) / (steps[last] || 1)}%` });
        cards.forEach((card, run) => {
            card.querySelector(".mh-run-text").innerHTML = runText(shown[run]);
            card.querySelectorAll(".mh-tile").forEach((tile, head) => {
                const svg = tile.querySelector("svg");
                const share = shown[run].heads[head];
                svg.innerHTML = shadesMarkup(data.map(at, run, head), T);
                refresh(svg, { "aria-label": mapLabel(runs[run].h, head, share) });
                tile.querySelector(".mh-tile-text").innerHTML = mapCaption(share);
            });
        });
        if (timer === null) announce(); // while it plays, a voice could not keep up
    }

    el.append(root);
    showPlaying();
    model.on("change", update);
    update();
    return () => {
        clearTimeout(timer);
        model.off("change", update);
        root.remove();
    };
}

// ---- still: for readers without JavaScript, and for print ----------------------------------------------------------

// The first and the last step, since nobody can move between them.
export function still(state) {
    const data = unpack(state);
    const { steps, tokens, runs } = data;
    const T = tokens.length;
    const moments = [...new Set([0, steps.length - 1])].map((frame) => {
        const shown = readouts(data, frame);
        const cards = runs.map(({ h }, run) => {
            const maps = shown[run].heads.map((share, head) => tileMarkup(
                head, T, mapLabel(h, head, share), shadesMarkup(data.map(frame, run, head), T), mapCaption(share)));
            return `<section class="mh-run"><p class="mh-title">${runTitle(run, h)}</p>${runText(shown[run])}` +
                `<div class="mh-run-maps" style="--columns:${Math.min(h, 4)}">${maps.join("")}</div></section>`;
        });
        return `<p class="mh-head">${formatNumber(steps[frame])}걸음</p><div class="mh-runs">${cards.join("")}</div>`;
    });
    return `<figure class="mh-still"><p class="mh-head">두 답이 모두 맞은 자리의 비율</p>` +
        `<div class="mh-training"><div class="mh-curve">${accuracyMarkup(data)}</div>${axesMarkup(data)}</div>` +
        `${moments.join("")}` +
        `<figcaption>지도의 문장: ${escapeHtml(tokens.join(" "))}. ${EXPLANATION}</figcaption></figure>`;
}

export default { render };
