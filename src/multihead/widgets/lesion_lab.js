// LesionLab: a small Korean BERT that answers for a masked token, with a switch for each of its heads.

import { element, escapeHtml, headStyle, josa, radioGroup, refresh } from "./core.js";

// ---- the sentence: the same tokens and written forms as multihead.models.grammar --------------------------------------------

const IT = "그것";
const MASK = "[MASK]";
const ROLES = {
    subject: "주어", subject_particle: "조사", object: "목적어", object_particle: "조사", time: "시간", manner: "부사",
    verb: "동사", honorific: "높임", tense: "시제", ending: "어미",
};
const RELATIONS = [["verb", "동사"], ["honorific", "높임"], ["tense", "시제"]];
const findKey = (lists, word) => Object.keys(lists).find((key) => lists[key].includes(word));

// Every morpheme with its role, its clause and the token that decides it.
export function tokensOf({ clauses, link }, world) {
    const tokens = [];
    let decidingObject = null;
    clauses.forEach((clause, number) => {
        const place = {};
        const add = (form, role, source = null) => tokens.push({ form, role, clause: number, source });
        for (const role of clause.order) {
            place[role] = tokens.length;
            const refersBack = role === "object" && clause.object === IT;
            if (role === "object" && !refersBack) decidingObject = tokens.length;
            add(clause[role], role, refersBack ? decidingObject : null);
            if (role === "subject") add("가", "subject_particle");
            if (role === "object") add("를", "object_particle");
        }
        add(findKey(world.objects, tokens[decidingObject].form), "verb", decidingObject);
        add(world.honoured.includes(clause.subject) ? "시" : "∅", "honorific", place.subject);
        add(findKey(world.times, clause.time), "tense", place.time);
        add(number === clauses.length - 1 ? "다" : link, "ending");
    });
    return tokens;
}

// As a Korean would write it; null if some of these tokens never go together.
export function surfaceOf(tokens, { surface }) {
    const words = [];
    for (let i = 0; i < tokens.length;) {
        const width = { subject: 2, object: 2, verb: 4 }[tokens[i].role] ?? 1;
        const forms = tokens.slice(i, i + width).map(({ form }) => form);
        words.push(width === 1 ? forms[0] : surface[forms.join("+")]);
        i += width;
    }
    return words.includes(undefined) ? null : words.join(" ");
}

// ---- the model: the same numbers as multihead.models.tiny_bert --------------------------------------------------------------

// A safetensors file: length of the header, header, numbers. int8 rows have a step each.
export function unpack(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const start = 8 + Number(view.getBigUint64(0, true));
    const { __metadata__, ...entries } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
    const numbers = ({ dtype, data_offsets: [from, to] }) => {
        if (dtype === "I8") return new Int8Array(bytes.buffer, start + from, to - from);
        const count = (to - from) / 4;
        return Float32Array.from({ length: count }, (_, i) => view.getFloat32(start + from + 4 * i, true));
    };
    const model = { h: Number(__metadata__.num_heads) };
    for (const [name, entry] of Object.entries(entries)) {
        if (name.endsWith(".step")) continue;
        const values = numbers(entry);
        if (entry.dtype !== "I8") {
            model[name] = values;
            continue;
        }
        const steps = numbers(entries[`${name}.step`]);
        const columns = entry.shape[1];
        model[name] = Float32Array.from(values, (value, i) => value * steps[Math.floor(i / columns)]);
    }
    model.D = model["norm.weight"].length;
    model.layers = Object.keys(model).filter((name) => name.endsWith("ff_norm.bias")).length;
    return model;
}

// Rows of x, each normalised.
function layerNorm(x, D, weight, bias) {
    const y = new Float64Array(x.length);
    for (let row = 0; row < x.length; row += D) {
        let mean = 0;
        for (let i = 0; i < D; i++) mean += x[row + i] / D;
        let variance = 0;
        for (let i = 0; i < D; i++) variance += (x[row + i] - mean) ** 2 / D;
        const scale = 1 / Math.sqrt(variance + 1e-5);
        for (let i = 0; i < D; i++) y[row + i] = (x[row + i] - mean) * scale * weight[i] + bias[i];
    }
    return y;
}

// x Wᵀ + b for rows of x, as nn.Linear has it.
function linear(x, W, b) {
    const outputs = b.length;
    const inputs = W.length / outputs;
    const rows = x.length / inputs;
    const y = new Float64Array(rows * outputs);
    for (let row = 0; row < rows; row++) {
        for (let j = 0; j < outputs; j++) {
            let sum = b[j];
            for (let i = 0; i < inputs; i++) sum += x[row * inputs + i] * W[j * inputs + i];
            y[row * outputs + j] = sum;
        }
    }
    return y;
}

function softmax(scores) {
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
}

// All heads of one layer. A head that is off adds nothing; its map is still there. maps[head][query] is a row.
function attend(model, prefix, x, T, isOff) {
    const { D, h } = model;
    const d_k = D / h;
    const project = (name, from) => linear(from, model[`${prefix}${name}.weight`], model[`${prefix}${name}.bias`]);
    const [q, k, v] = ["W_Q", "W_K", "W_V"].map((name) => project(name, x));
    const concat = new Float64Array(T * D);
    const maps = [];
    for (let head = 0; head < h; head++) {
        const from = head * d_k;
        const rows = [];
        for (let query = 0; query < T; query++) {
            const scores = [];
            for (let key = 0; key < T; key++) {
                let sum = 0;
                for (let i = from; i < from + d_k; i++) sum += q[query * D + i] * k[key * D + i];
                scores.push(sum / Math.sqrt(d_k));
            }
            const weights = softmax(scores);
            rows.push(weights);
            if (isOff(head)) continue;
            for (let key = 0; key < T; key++) {
                for (let i = from; i < from + d_k; i++) concat[query * D + i] += weights[key] * v[key * D + i];
            }
        }
        maps.push(rows);
    }
    return { added: project("W_O", concat), maps };
}

// Scores of all tokens for the place `masked`, and the maps [layer][head][query][key]. `off` holds [layer, head] from 1.
export function ask(model, ids, masked, off) {
    const { D } = model;
    const T = ids.length;
    let x = new Float64Array(T * D);
    ids.forEach((id, t) => {
        for (let i = 0; i < D; i++) {
            x[t * D + i] = model["embedding.weight"][id * D + i] + model["position.weight"][t * D + i];
        }
    });
    const add = (more) => { x = x.map((number, i) => number + more[i]); };
    const maps = [];
    for (let layer = 0; layer < model.layers; layer++) {
        const part = (name) => model[`layers.${layer}.${name}`];
        const isOff = (head) => off.some(([l, n]) => l === layer + 1 && n === head + 1);
        const normed = layerNorm(x, D, part("attention_norm.weight"), part("attention_norm.bias"));
        const { added, maps: own } = attend(model, `layers.${layer}.attention.`, normed, T, isOff);
        maps.push(own);
        add(added);
        const inner = linear(layerNorm(x, D, part("ff_norm.weight"), part("ff_norm.bias")),
            part("ff_in.weight"), part("ff_in.bias"));
        add(linear(inner.map((number) => Math.max(0, number)), part("ff_out.weight"), part("ff_out.bias")));
    }
    const last = layerNorm(x.subarray(masked * D, (masked + 1) * D), D, model["norm.weight"], model["norm.bias"]);
    return { logits: linear(last, model["output.weight"], model["output.bias"]), maps };
}

// Everything that is shown.
export function examine({ sentence, masked, off }, model, world) {
    const tokens = tokensOf(sentence, world);
    const ids = tokens.map(({ form }) => world.vocabulary.indexOf(form));
    ids[masked] = world.vocabulary.indexOf(MASK);
    const { logits, maps } = ask(model, ids, masked, off);
    const probabilities = softmax(Array.from(logits));
    const answers = probabilities.map((p, id) => ({ form: world.vocabulary[id], p }))
        .sort((a, b) => b.p - a.p).slice(0, 5);
    const answered = tokens.map((token, i) => (i === masked ? { ...token, form: answers[0].form } : token));
    return {
        tokens, logits, maps, answers, truth: tokens[masked],
        right: answers[0].form === tokens[masked].form,
        written: surfaceOf(tokens, world), answered: surfaceOf(answered, world),
    };
}

// ---- what cannot be a sentence of this world ------------------------------------------------------------------------

const NEEDED = {
    subject: "주어가 없으면 높임말을 쓸지 정할 수 없습니다.",
    object: "목적어가 없으면 동사를 정할 수 없습니다.",
    time: "시간 부사가 없으면 시제를 정할 수 없습니다.",
};

// Why the model cannot be asked about these clauses; null if it can.
export function faultOf({ clauses }, { most_clauses, most_tokens }) {
    for (const [role, why] of Object.entries(NEEDED)) {
        const number = clauses.findIndex((clause) => !clause[role]);
        if (number < 0) continue;
        const where = clauses.length > 1 ? `${number + 1}번째 절에 ` : "";
        return `${where}${ROLES[role]}${role === "time" ? " 부사가" : "가"} 없습니다. ${why} 하나를 고르십시오.`;
    }
    if (clauses.length > most_clauses) {
        const count = clauses.reduce((sum, { order }) => sum + order.length + 6, 0);
        return `절이 ${clauses.length}개이면 토큰이 ${count}개입니다. 이 모델은 절 ${most_clauses}개, ` +
            `토큰 ${most_tokens}개까지만 배웠고, 그 뒤의 자리를 나타내는 임베딩이 없습니다. 절의 수를 줄이십시오.`;
    }
    return null;
}

// ---- words ----------------------------------------------------------------------------------------------------------

const percent = (p) => `${(100 * p).toFixed(1)} %`;
const quoted = (form) => `‘${form}’`;
const headName = (layer, head) => `${layer + 1}-${head + 1}`;
const isOff = (off, layer, head) => off.some(([l, n]) => l === layer + 1 && n === head + 1);
const strongest = (row) => row.indexOf(Math.max(...row));

function summarise({ masked, off }, { tokens, answers, truth, right }) {
    const names = off.map(([layer, head], i) => `${layer}-${i < off.length - 1 ? head : josa(head, "을/를")}`);
    const heads = off.length ? `헤드 ${names.join(", ")} 끈 채 ` : "";
    const verdict = right ? "이 세계의 정답입니다." : `이 세계의 정답은 ${quoted(truth.form)}입니다.`;
    const why = truth.source === null ? "" : ` 정답은 ${quoted(tokens[truth.source].form)}에 달려 있습니다.`;
    return `${masked + 1}번째 토큰(${ROLES[truth.role]})을 가리고 ${heads}물었습니다. 모델의 답은 ${quoted(answers[0].form)}, ` +
        `확률은 ${percent(answers[0].p)}입니다. ${verdict}${why}`;
}

function writtenMarkup({ written, answered, right, answers }) {
    const text = right ? written : answered ?? `문장이 되지 않습니다(모델의 답: ${quoted(answers[0].form)}).`;
    return `<p class="mh-lab-line"><span class="mh-label">문장</span> <span data-out="written">${written}</span></p>` +
        `<p class="mh-lab-line ${right ? "" : "is-wrong"}"><span class="mh-label">모델의 답을 넣으면</span> ` +
        `<span data-out="answered">${text}</span></p>`;
}

// ---- pictures: the same markup for the widget and for the still -------------------------------------------------------

function answersMarkup({ answers, truth }) {
    return answers.map(({ form, p }, i) =>
        `<div class="mh-answer${form === truth.form ? " is-true" : ""}"><b data-out="answer_${i}">${escapeHtml(form)}</b>` +
        `<span class="mh-track"><span class="mh-bar" style="width:${(100 * p).toFixed(2)}%"></span></span>` +
        `<span data-out="probability_${i}">${percent(p)}</span>` +
        `<span class="mh-small">${form === truth.form ? "정답" : ""}</span></div>`).join("");
}

// The names of the tokens above the maps. The masked one and the one that decides it stand out.
function namesMarkup({ masked }, { tokens, truth }) {
    return tokens.map(({ form }, i) => {
        const kind = i === masked ? " is-masked" : i === truth.source ? " is-source" : "";
        return `<span class="mh-lab-name${kind}">${i === masked ? "?" : escapeHtml(form)}</span>`;
    }).join("");
}

const cellsMarkup = (row) => row.map((weight) => `<i style="opacity:${weight.toFixed(3)}"></i>`).join("");

function describeHead({ masked }, { tokens, maps }, layer, head) {
    const row = maps[layer][head][masked];
    const key = strongest(row);
    const form = key === masked ? "가린 자리" : tokens[key].form;
    return `${form} ${row[key].toFixed(2)}`;
}

// One lane a relation: how much accuracy it loses without this head, at each recorded step of training.
function laneMarkup(cost, slot) {
    const width = 100 / cost.length;
    const stops = cost.map((loss, i) => {
        const strength = Math.max(0, Math.min(100, loss));
        const colour = `color-mix(in srgb, var(--${slot}) ${strength}%, var(--sunken))`;
        return `${colour} ${(i * width).toFixed(2)}% ${((i + 1) * width).toFixed(2)}%`;
    });
    return `<span class="mh-lane" style="background:linear-gradient(90deg,${stops.join(",")})"></span>`;
}

// The first recorded step from which on the relation always loses at least 30 points without this head.
export function stepOfRole({ steps }, cost) {
    const before = cost.findLastIndex((loss) => loss < 30);
    return before === cost.length - 1 ? null : steps[before + 1];
}

function rolesInWords(history, head) {
    const roles = RELATIONS.map(([slot, label]) => [label, stepOfRole(history, history.cost[head][slot])])
        .filter(([, step]) => step !== null);
    return roles.length
        ? roles.map(([label, step]) => `${label}(${step.toLocaleString("ko")}걸음부터)`).join(", ")
        : "혼자 맡은 일이 없음";
}

function stripMarkup({ history }) {
    const { steps, cost } = history;
    const rows = Object.keys(cost).map((head) =>
        `<div class="mh-strip-row"><b>${head}</b><div class="mh-lanes" role="img" ` +
        `aria-label="헤드 ${head}: ${rolesInWords(history, head)}">` +
        RELATIONS.map(([slot]) => laneMarkup(cost[head][slot], slot)).join("") + "</div>" +
        `<span class="mh-small">${rolesInWords(history, head)}</span></div>`);
    const ticks = [0, 500, 1000, steps.at(-1)].map((step) => {
        const at = (100 * (steps.indexOf(step) + 0.5)) / steps.length;
        return `<span style="left:${at.toFixed(1)}%">${step.toLocaleString("ko")}</span>`;
    });
    const legend = RELATIONS.map(([slot, label]) =>
        `<span class="mh-lab-key"><i style="background:var(--${slot})"></i>${label}</span>`).join("");
    return `<p class="mh-head">학습하는 동안 헤드가 일을 맡은 때 <span class="mh-small">그 헤드를 끄면 정답률이 얼마나 ` +
        `떨어지는지, 진할수록 많이. 가로축은 학습 걸음이고 간격은 고르지 않습니다.</span></p><p>${legend}</p>` +
        `<div class="mh-strip">${rows.join("")}<div class="mh-strip-row"><b></b>` +
        `<div class="mh-axis" aria-hidden="true">${ticks.join("")}</div><span></span></div></div>`;
}

// ---- live widget ------------------------------------------------------------------------------------------------------

const SHAPES = [["one", "한 절"], ["고", "두 절: …고"], ["다", "두 문장: 그것"], ["three", "세 절"]];
const shapeOf = ({ clauses, link }) => ["one", link, "three"][clauses.length - 1];

// A clause with other words than those before it.
function nextClause(clauses, object) {
    const other = (words, role) => words.find((word) => clauses.every((clause) => clause[role] !== word));
    return {
        subject: other(["동생", "선생님", "누나"], "subject"), time: other(["내일", "어제", "곧"], "time"),
        object: object ?? other(["모자", "편지", "버스"], "object"), manner: null, order: ["subject", "time", "object"],
    };
}

function withShape({ clauses, link }, shape) {
    const count = { one: 1, three: 3 }[shape] ?? 2;
    const kept = clauses.slice(0, count);
    // 그것 is the object of a second sentence and of nothing else.
    if (kept[1] && (kept[1].object === IT) !== (shape === "다")) {
        kept[1] = { ...kept[1], object: shape === "다" ? IT : nextClause(kept.slice(0, 1)).object };
    }
    while (kept.length < count) kept.push(nextClause(kept, shape === "다" ? IT : undefined));
    return { clauses: kept, link: shape === "다" ? "다" : count === 1 ? link : "고" };
}

function withWord(sentence, number, role, word) {
    const clauses = sentence.clauses.map((clause, i) => {
        if (i !== number) return clause;
        const order = role !== "manner" || (word !== null) === clause.order.includes("manner") ? clause.order
            : word === null ? clause.order.filter((name) => name !== "manner") : [...clause.order, "manner"];
        return { ...clause, [role]: word, order };
    });
    return { ...sentence, clauses };
}

function withEarlier(sentence, number, role) {
    const clauses = sentence.clauses.map((clause, i) => {
        const at = clause.order.indexOf(role);
        if (i !== number || at < 1) return clause;
        const order = [...clause.order];
        [order[at - 1], order[at]] = [order[at], order[at - 1]];
        return { ...clause, order };
    });
    return { ...sentence, clauses };
}

function wordSelect(name, label, groups, chosen, isOptional, change) {
    const option = (word) => element("option", { value: word, selected: word === chosen }, word);
    const select = element("select", {
        name, "aria-label": label, onchange: () => change(select.value || null),
    }, ...(isOptional ? [element("option", { value: "", selected: chosen === null }, "없음")] : []),
    ...groups.map(([title, words]) => (title ? element("optgroup", { label: title }, ...words.map(option))
        : option(words))));
    return select;
}

function render({ model, el }) {
    const world = model.get("_world");
    const tiny = unpack(model.get("_weights"));
    // A shorter sentence arrives before the mask that belongs to it.
    const read = () => {
        const sentence = model.get("sentence");
        const last = tokensOf(sentence, world).length - 1;
        return { sentence, masked: Math.min(model.get("masked"), last), off: model.get("off") };
    };
    const set = (changes) => {
        for (const [name, value] of Object.entries(changes)) model.set(name, value);
        model.save_changes();
    };
    // What the controls say. It reaches the model only while it is a sentence, so Python never reads an impossible one.
    let draft = read().sentence;

    function compose(next) {
        draft = next;
        if (faultOf(draft, world)) return update();
        const old = read();
        const { role, clause } = tokensOf(old.sentence, world)[old.masked];
        const tokens = tokensOf(draft, world);
        const same = tokens.findIndex((token) => token.role === role && token.clause === clause);
        const masked = same < 0 ? tokens.findLastIndex((token) => token.role === "verb") : same;
        set({ sentence: draft, masked });
    }

    const shapes = radioGroup({
        name: "shape", legend: "문장의 꼴", options: SHAPES, change: (shape) => compose(withShape(draft, shape)),
    });
    const clauses = element("div", { class: "mh-clauses" });
    const alert = element("p", { class: "mh-alert", role: "alert", hidden: true });
    const written = element("div", { class: "mh-written" });
    const chips = element("div");
    const answers = element("div", { class: "mh-answers" });
    const names = element("div", { class: "mh-lab-cells", "aria-hidden": "true" });
    const switches = Array.from({ length: tiny.layers }, (_, layer) => Array.from({ length: tiny.h }, (_, head) => {
        const name = headName(layer, head);
        const box = element("input", {
            type: "checkbox", name: `head_${name}`, "aria-label": `헤드 ${name} 켜기`,
            onchange: () => {
                const others = read().off.filter(([l, n]) => l !== layer + 1 || n !== head + 1);
                set({ off: box.checked ? others : [...others, [layer + 1, head + 1]].sort() });
            },
        });
        const cells = element("div", { class: "mh-lab-cells", role: "img" });
        const says = element("span", { class: "mh-small", "data-out": `top_${name}` });
        const row = element("div", { class: "mh-lab-row", style: headStyle(layer * tiny.h + head) },
            element("label", { class: "mh-lab-switch" }, box, element("span", {}, name)), cells, says);
        return { layer, head, name, box, cells, says, row };
    })).flat();
    const allOn = element("button", { type: "button", name: "all_on", onclick: () => set({ off: [] }) }, "모두 켜기");
    const summary = element("p", { class: "mh-say", "aria-live": "polite", "data-out": "summary" });
    const results = element("div", {}, written, chips, summary,
        element("p", { class: "mh-head" }, "가린 자리의 답"), answers,
        element("p", { class: "mh-head" }, "헤드 스위치와 가린 자리의 어텐션 ",
            element("span", { class: "mh-small" }, "진할수록 큰 가중치. 밑줄 친 토큰이 정답을 정합니다. 꺼도 지도는 보입니다.")),
        element("div", { class: "mh-scroll" }, element("div", { class: "mh-lab-table" },
            element("div", { class: "mh-lab-row" }, allOn, names, element("span", { class: "mh-small" }, "가장 큰 가중치")),
            ...switches.map(({ row }) => row))));
    const strip = element("div");
    strip.innerHTML = stripMarkup(world);
    const form = element("form", {
        class: "mh", "data-widget": "LesionLab", "aria-label": "헤드를 끄는 실험실",
        onsubmit: (event) => event.preventDefault(),
    }, shapes, clauses, alert, results, strip);

    // The controls of the clauses, drawn anew only when the sentence changes; the keyboard's focus stays.
    let drawn = "";
    function drawClauses() {
        const key = JSON.stringify(draft);
        if (key === drawn) return;
        drawn = key;
        const focused = el.contains(document.activeElement) ? document.activeElement.name : null;
        const groups = {
            subject: [["높이는 사람", world.honoured], ["높이지 않는 사람", world.plain]],
            object: Object.entries(world.objects).map(([verb, words]) => [`${verb}-`, words]),
            time: [["지난 때", world.times["었"]], ["올 때", world.times["ㄹ 것이"]]],
            manner: world.manners.map((word) => [null, word]),
        };
        clauses.replaceChildren(...draft.clauses.map((clause, number) => {
            const which = draft.clauses.length > 1 ? `${number + 1}번째 절 ` : "";
            const roles = [...clause.order, ...(clause.order.includes("manner") ? [] : ["manner"])];
            return element("fieldset", { class: "mh-clause" },
                element("legend", { class: "mh-label" }, which ? which.trim() : "낱말과 어순"),
                ...roles.map((role) => {
                    const isIt = role === "object" && clause.object === IT;
                    const at = clause.order.indexOf(role);
                    const select = wordSelect(`${role}_${number}`, which + ROLES[role], isIt ? [[null, IT]] : groups[role],
                        clause[role], !isIt, (word) => compose(withWord(draft, number, role, word)));
                    const earlier = element("button", {
                        type: "button", name: `earlier_${role}_${number}`, "aria-disabled": String(at < 1), // keeps the focus
                        "aria-label": `앞으로 옮기기: ${which}${ROLES[role]}`,
                        onclick: () => compose(withEarlier(draft, number, role)),
                    }, "◀");
                    return element("div", { class: "mh-word-card" },
                        element("span", { class: "mh-label" }, ROLES[role]), select, earlier);
                }));
        }));
        if (focused) clauses.querySelector(`[name="${focused}"]`)?.focus();
    }

    let chipsDrawn = "";
    function drawChips({ masked }, { tokens }) {
        const key = JSON.stringify(tokens);
        if (key !== chipsDrawn) {
            chipsDrawn = key;
            chips.replaceChildren(radioGroup({
                name: "masked", legend: "가릴 토큰(형태소)", change: (index) => set({ masked: index }),
                options: tokens.map(({ form, role }, i) => [i, element("span", { class: "mh-lab-token" },
                    element("b", {}, form), element("span", {}, ROLES[role]))]),
            }));
        }
        for (const input of chips.querySelectorAll("input")) input.checked = Number(input.value) === masked;
    }

    function update() {
        const state = read();
        const fault = faultOf(draft, world);
        for (const input of shapes.querySelectorAll("input")) input.checked = input.value === shapeOf(draft);
        drawClauses();
        refresh(alert, {}, fault ?? "");
        alert.hidden = fault === null;
        results.hidden = fault !== null;
        if (fault) {
            for (const node of [written, chips, answers, names, summary]) node.replaceChildren();
            chipsDrawn = "";
            return;
        }
        const seen = examine(state, tiny, world);
        written.innerHTML = writtenMarkup(seen);
        drawChips(state, seen);
        answers.innerHTML = answersMarkup(seen);
        refresh(summary, {}, summarise(state, seen));
        names.innerHTML = namesMarkup(state, seen);
        for (const { layer, head, name, box, cells, says, row } of switches) {
            box.checked = !isOff(state.off, layer, head);
            row.classList.toggle("is-off", !box.checked);
            cells.innerHTML = cellsMarkup(seen.maps[layer][head][state.masked]);
            const text = describeHead(state, seen, layer, head);
            refresh(cells, { "aria-label": `헤드 ${name}, 가린 자리의 가장 큰 가중치: ${text}` });
            refresh(says, {}, text);
        }
        allOn.disabled = state.off.length === 0;
    }
    function follow() {
        draft = read().sentence;
        update();
    }

    el.append(form);
    model.on("change", follow);
    update();
    return () => {
        model.off("change", follow);
        form.remove();
    };
}

// ---- still: for readers without JavaScript, and for print -------------------------------------------------------------

export function still({ _weights, _world, ...state }) {
    const tiny = unpack(_weights);
    const seen = examine(state, tiny, _world);
    const rows = seen.maps.flatMap((heads, layer) => heads.map((_, head) =>
        `<div class="mh-lab-row${isOff(state.off, layer, head) ? " is-off" : ""}" ` +
        `style="${headStyle(layer * tiny.h + head)}"><span>${headName(layer, head)}</span>` +
        `<div class="mh-lab-cells">${cellsMarkup(seen.maps[layer][head][state.masked])}</div>` +
        `<span class="mh-small">${describeHead(state, seen, layer, head)}</span></div>`)).join("");
    return `<figure class="mh-still" aria-label="헤드를 끄는 실험실">${writtenMarkup(seen)}` +
        `<p class="mh-say">${summarise(state, seen)}</p><div class="mh-answers">${answersMarkup(seen)}</div>` +
        `<p class="mh-head">헤드마다 가린 자리의 어텐션</p><div class="mh-scroll"><div class="mh-lab-table">` +
        `<div class="mh-lab-row"><span></span><div class="mh-lab-cells">${namesMarkup(state, seen)}</div><span></span></div>` +
        `${rows}</div></div>${stripMarkup(_world)}</figure>`;
}

export default { render };
