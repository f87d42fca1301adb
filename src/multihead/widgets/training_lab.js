// TrainingLab: the two-neighbours experiment, trained here and now by a Worker (neighbours.js, training_worker.js).

import {
    checkControl, element, formatNumber, mapCaption, mapLabel, numberControl, refresh, rolesText, runCurves,
    runTitle, selectControl, shadesMarkup, splitFault, tileMarkup,
} from "./core.js";

const SETTINGS = ["h", "compare", "d_model", "learning_rate", "seed", "scaling"];
const LIMITS = { h: [1, 8], compare: [1, 8], d_model: [8, 64], seed: [0, 99] };
const LEARNING_RATES = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1]; // of training_lab.py
const STEPS = 500, T = 16; // of neighbours.js, as the two below
const GUESSING = 2 * Math.log(24);
const WORST_DRAWN = 8; // a new model's loss is a little below

// ---- settings ------------------------------------------------------------------------------------------------------

// The settings of each run, as createTraining in neighbours.js takes them.
export const runsOf = ({ h, compare, ...rest }) => (compare === null ? [h] : [h, compare]).map((h) => ({ h, ...rest }));

const faultOf = (state) => runsOf(state).map((run) => splitFault(run, LIMITS)).find((fault) => fault) ?? null;

// ---- numbers and sentences -----------------------------------------------------------------------------------------

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const stepText = (step) => `${formatNumber(step)} / ${formatNumber(STEPS)}걸음`;

// Every number of a run that the widget shows, as the reader sees it. `row` is an element of the history.
export function readouts({ h, loss, both, shares }) {
    const heads = shares.map(([left, right]) => ({ left, right }));
    return {
        h, both: percent(both), loss: loss.toFixed(2), roles: rolesText(heads),
        heads: heads.map(({ left, right }) => ({ left: left.toFixed(2), right: right.toFixed(2) })),
    };
}

const summarise = (step, rows) => `${formatNumber(step)}걸음. 두 답이 모두 맞은 자리: ` +
    rows.map(({ h, both }) => `h = ${h}에서 ${percent(both)}`).join(", ");

export const divergedText = ({ step, loss, h, learning_rate }) =>
    `h = ${h}의 손실이 ${formatNumber(step)}걸음에서 ` +
    `${Number.isFinite(loss) ? `${loss.toFixed(1)}까지 커졌습니다` : "셀 수 없는 수가 되었습니다"}. ` +
    `아무렇게나 찍을 때의 손실 ${GUESSING.toFixed(2)}의 세 배를 넘어 발산했으므로 학습을 멈추었습니다. ` +
    `학습률 ${learning_rate}보다 작은 값을 고르십시오.`;
const NO_WORKER = "이 브라우저에서는 학습할 수 없습니다(Web Worker를 열지 못했습니다). 기록해 둔 학습은 위의 되감기에서 볼 수 있습니다.";
const EXPLANATION = "지도의 행은 쿼리, 열은 키이고, 언제나 같은 문장에서 그립니다. " +
    "지도 아래의 숫자는 학습에 쓰지 않은 문장 128개에서 그 헤드가 양쪽 이웃에 준 가중치의 평균입니다.";

// ---- pictures ------------------------------------------------------------------------------------------------------

// The rows of each run: the history holds the runs of a step one after the other.
const byRun = (history, count) =>
    Array.from({ length: count }, (_, run) => history.filter((_, i) => i % count === run));

const CURVES = [
    { name: "both", title: "두 답이 모두 맞은 자리의 비율", levels: ["100 %", "50 %"], height: ({ both }) => both },
    {
        name: "loss", title: "손실", levels: [WORST_DRAWN, WORST_DRAWN / 2].map(String),
        height: ({ loss }) => Math.min(1, loss / WORST_DRAWN),
    },
];

const linesMarkup = ({ height }, runs) =>
    runCurves(runs.map((rows) => rows.map((row) => [(100 * row.step) / STEPS, 100 - 100 * height(row)])));
const axesMarkup = ({ levels: [top, middle] }) =>
    `<span class="mh-level" style="top:2.8%">${top}</span><span class="mh-level" style="top:50%">${middle}</span>` +
    `<div class="mh-axis"><span style="left:0">0걸음</span><span style="left:100%">${STEPS}걸음</span></div>`;

const runText = ({ both, loss, roles }) =>
    `<p>두 답이 모두 맞은 자리 <strong data-out="both">${both}</strong> <span class="mh-small">손실 ` +
    `<span data-out="loss">${loss}</span></span></p><p class="mh-small" data-out="roles">${roles}</p>`;

// ---- live widget ---------------------------------------------------------------------------------------------------

// A module Worker out of its text. `fail` is called, later, where the browser allows none.
function openWorker(text, answer, fail) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    try {
        const worker = new Worker(url, { type: "module" });
        worker.onmessage = ({ data }) => answer(data);
        worker.onerror = (event) => { event.preventDefault(); fail(); };
        const close = () => { worker.terminate(); URL.revokeObjectURL(url); };
        return { post: (message) => worker.postMessage(message), close };
    } catch {
        setTimeout(fail);
        return { post() {}, close: () => URL.revokeObjectURL(url) };
    }
}

function render({ model, el }) {
    const read = () => Object.fromEntries(SETTINGS.map((name) => [name, model.get(name)]));
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };

    // ---- the state of the runs ----

    let id = 0; // of the runs; what the Worker still says about earlier ones is not heard
    let settings = null; // the settings of these runs, as text
    let [step, rows, maps] = [0, [], []]; // the last measured step, its row and its maps for each run
    let history = [];
    let phase = "ready"; // or "running", "paused", "done"; "broken": nothing goes on until a reset; "dead": no Worker
    let problem = "";

    const worker = openWorker(model.get("_worker"), answer, () => {
        [phase, problem] = ["dead", NO_WORKER];
        update();
    });

    function begin() {
        const state = read();
        settings = JSON.stringify(state);
        id++;
        [step, rows, maps, history] = [0, [], [], []];
        if (phase !== "dead") [phase, problem] = ["ready", faultOf(state) ?? ""];
        if (model.get("_history").length) set({ _history: [] });
        worker.post(problem ? { running: false } : { id, settings: runsOf(state) });
        update();
    }

    function answer({ id: of, step: at, runs, diverged }) {
        if (of !== id) return;
        if (diverged) {
            const { h, learning_rate } = runsOf(read())[diverged.run];
            [phase, problem] = ["broken", divergedText({ step: at, loss: diverged.loss, h, learning_rate })];
            return update();
        }
        step = at;
        rows = runs.map(({ maps, ...measured }, run) => ({ step, h: runsOf(read())[run].h, ...measured }));
        maps = runs.map((run) => Uint8Array.from(run.maps, (weight) => Math.round(255 * weight)));
        history = [...history.filter((row) => row.step !== step), ...rows];
        if (step === STEPS) phase = "done";
        // Also updates the view. One that has trained nothing leaves the numbers of another view alone.
        if (step > 0) set({ _history: history });
        else update();
        if (phase === "paused" || phase === "done") announce();
    }

    function run(on) {
        phase = on ? "running" : "paused";
        worker.post({ running: on });
        update();
        if (!on) announce();
    }
    // Nobody looks at a hidden tab: it rests, and goes on when it is back. The numbers stay the same.
    const rest = () => { if (phase === "running") worker.post({ running: !document.hidden }); };

    // ---- nodes ----

    const note = element("p", { class: "mh-note", role: "status", "data-out": "note" });
    const say = (text) => { note.textContent = text; };
    const number = (name, label, options) =>
        numberControl({ name, label, range: LIMITS[name], change: (value) => set({ [name]: value }), say, ...options });
    const controls = {
        h: number("h", "헤드 수 h"),
        compare: number("compare", "견줄 헤드 수 h"),
        d_model: number("d_model", "모델 차원 d_model", { step: 4 }),
        seed: number("seed", "시드"),
    };
    const rate = selectControl({
        name: "learning_rate", label: "학습률", options: LEARNING_RATES.map((value) => [value, String(value)]),
        change: (value) => set({ learning_rate: Number(value) }),
    });
    const compared = checkControl({
        name: "is_compared", label: "헤드 수가 다른 학습을 나란히",
        change: (on) => { say(""); set({ compare: on ? (model.get("h") === 1 ? 2 : 1) : null }); },
    });
    const scaling = checkControl({
        name: "scaling", label: "점수를 √d_k로 나누기", change: (on) => set({ scaling: on }),
    });
    const button = (name, text, onclick) =>
        element("button", { type: "button", name, class: "mh-button", onclick }, text);
    const play = element("button", {
        type: "button", name: "play", class: "mh-play",
        onclick: () => {
            if (phase === "running") return run(false);
            if (phase === "done") begin();
            run(true);
        },
    });
    const single = button("step", "한 걸음", () => {
        phase = "paused";
        worker.post({ running: false });
        worker.post({ single: true });
        update();
    });
    const reset = button("reset", "처음으로", () => { begin(); play.focus(); });
    const now = element("span", { class: "mh-label", "data-out": "step" });
    const alert = element("p", { class: "mh-alert", role: "alert" });
    const spoken = element("p", { class: "mh-spoken", "aria-live": "polite" });
    const curves = CURVES.map((curve) => {
        const node = element("div", { class: "mh-training", role: "img", "data-curve": curve.name });
        node.innerHTML = `<div class="mh-curve"></div>${axesMarkup(curve)}`;
        return node;
    });
    const cards = element("div", { class: "mh-runs" });
    const picture = element("div", {},
        element("div", { class: "mh-runs" }, ...CURVES.map(({ title }, i) =>
            element("div", {}, element("p", { class: "mh-head" }, title), curves[i]))),
        cards, element("p", { class: "mh-small" }, EXPLANATION));
    const root = element("form", {
        class: "mh", "data-widget": "TrainingLab", "aria-label": "직접 학습하기", autocomplete: "off",
        onsubmit: (event) => event.preventDefault(),
    },
    element("div", { class: "mh-controls" },
        controls.h.node, controls.compare.node, controls.d_model.node, controls.seed.node, rate.node),
    element("div", { class: "mh-checks" }, compared.node, scaling.node), note, alert,
    element("div", { class: "mh-waiting" }, play, single, reset, now), picture, spoken);

    function announce() {
        refresh(spoken, {}, rows.length ? summarise(step, rows) : "");
    }

    // A card for each run. It is made anew only where the number of heads has changed.
    function showCards() {
        const heads = rows.map(({ h }) => h).join();
        if (cards.dataset.heads !== heads) {
            cards.dataset.heads = heads;
            cards.innerHTML = rows.map(({ h }, run) =>
                `<section class="mh-run" aria-label="학습 h = ${h}" data-run="${run}">` +
                `<p class="mh-title">${runTitle(run, h)}</p>` +
                `<div class="mh-run-text"></div><div class="mh-run-maps" style="--columns:${Math.min(h, 4)}">` +
                `${Array.from({ length: h }, (_, head) => tileMarkup(head, T)).join("")}</div></section>`).join("");
        }
        rows.forEach((row, run) => {
            const shown = readouts(row);
            const card = cards.children[run];
            card.querySelector(".mh-run-text").innerHTML = runText(shown);
            card.querySelectorAll(".mh-tile").forEach((tile, head) => {
                const svg = tile.querySelector("svg");
                svg.innerHTML = shadesMarkup(maps[run].subarray(head * T * T, (head + 1) * T * T), T);
                refresh(svg, { "aria-label": mapLabel(row.h, head, shown.heads[head]) });
                tile.querySelector(".mh-tile-text").innerHTML = mapCaption(shown.heads[head]);
            });
        });
    }

    function update() {
        const state = read();
        if (settings !== JSON.stringify(state)) return begin();
        for (const [name, control] of Object.entries(controls)) control.show(state[name] ?? state.h);
        controls.compare.node.hidden = state.compare === null;
        compared.show(state.compare !== null);
        scaling.show(state.scaling);
        rate.select.value = state.learning_rate;

        refresh(alert, {}, problem);
        alert.hidden = !problem;
        picture.hidden = !rows.length; // nothing stale beside a problem with the settings
        refresh(play, {}, phase === "running" ? "❚❚ 멈춤" : phase === "done" ? "▶ 다시" : "▶ 시작");
        play.disabled = Boolean(problem);
        single.disabled = Boolean(problem) || phase === "done";
        reset.disabled = phase === "dead";
        refresh(now, {}, stepText(step));
        if (!rows.length) return;
        CURVES.forEach((curve, i) => {
            curves[i].querySelector(".mh-curve").innerHTML = linesMarkup(curve, byRun(history, rows.length));
            const values = rows.map((row) => `h = ${row.h}에서 ${readouts(row)[curve.name]}`).join(", ");
            refresh(curves[i], { "aria-label": `${curve.title} 곡선. ${formatNumber(step)}걸음, ${values}` });
        });
        showCards();
    }

    el.append(root);
    model.on("change", update);
    document.addEventListener("visibilitychange", rest);
    begin();
    return () => {
        worker.close();
        document.removeEventListener("visibilitychange", rest);
        model.off("change", update);
        root.remove();
    };
}

// ---- still: for readers without JavaScript, and for print ----------------------------------------------------------

// The curves and the last numbers of what has been trained so far; before that, what could be.
export function still({ _history, ...state }) {
    const settings = `d_model = ${state.d_model}, 학습률 ${state.learning_rate}, 시드 ${state.seed}` +
        `${state.scaling ? "" : ", 점수를 √d_k로 나누지 않음"}`;
    const counts = runsOf(state);
    const titles = counts.map(({ h }, run) => runTitle(run, h));
    if (!_history.length) {
        return `<figure class="mh-still"><p class="mh-head">직접 학습하기</p><p>${titles.join(" ")}</p>` +
            `<figcaption>${settings}. 자바스크립트를 켜면 여기에서 ${STEPS}걸음을 학습합니다.</figcaption></figure>`;
    }
    const runs = byRun(_history, counts.length);
    const curves = CURVES.map((curve) => `<div><p class="mh-head">${curve.title}</p><div class="mh-training">` +
        `<div class="mh-curve">${linesMarkup(curve, runs)}</div>${axesMarkup(curve)}</div></div>`).join("");
    const cards = runs.map((rows, run) => {
        const shown = readouts(rows.at(-1));
        const heads = shown.heads.map(({ left, right }, head) => `헤드 ${head}: 왼쪽 ${left}, 오른쪽 ${right}`);
        return `<section class="mh-run"><p class="mh-title">${titles[run]}</p>${runText(shown)}` +
            `<p class="mh-small">${heads.join("<br>")}</p></section>`;
    }).join("");
    return `<figure class="mh-still"><p class="mh-head">${stepText(_history.at(-1).step)}</p>` +
        `<div class="mh-runs">${curves}</div><div class="mh-runs">${cards}</div>` +
        `<figcaption>${settings}. ${EXPLANATION}</figcaption></figure>`;
}

export default { render };
