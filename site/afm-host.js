// Brings the book's widgets to life on a static page, without a kernel and without any library.
//
// A built page holds, as every notebook page with widgets does, one block with the state of all widgets and one script
// for each place where a widget is shown. For an anywidget, the state contains its module (`_esm`) and its style
// (`_css`): this host builds a model with the interface that anywidget promises to a module (anywidget.dev/en/afm) and
// lets the module draw. Around each script the build puts <div class="afm-view">, with a still picture in it.

const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';

// ---- models ----

function createModel(state, models) {
    const listeners = new Map(); // event name -> set of callbacks
    const emit = (event, ...args) => listeners.get(event)?.forEach((callback) => callback(...args));
    // A reference to another widget is stored as "IPY_MODEL_<id>", also inside lists.
    const resolve = (value) => {
        if (Array.isArray(value)) return value.map(resolve);
        if (typeof value === "string" && value.startsWith("IPY_MODEL_")) return models.get(value.slice(10));
        return value;
    };
    const model = {
        get: (name) => resolve(state[name]),
        set(name, value) {
            const changes = typeof name === "string" ? { [name]: value } : name;
            const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
            Object.assign(state, changes);
            for (const key of changed) emit(`change:${key}`, model, state[key]);
            if (changed.length) emit("change", model);
        },
        on(event, callback) {
            if (!listeners.has(event)) listeners.set(event, new Set());
            listeners.get(event).add(callback);
        },
        off(event, callback) {
            if (callback) listeners.get(event)?.delete(callback);
            else if (event) listeners.delete(event);
            else listeners.clear();
        },
        save_changes() {}, // no kernel to tell
        send() {},
    };
    return model;
}

// ---- modules and styles, each distinct text once ----

// A built page names the module's file; a page that Jupyter itself has saved holds the module as text.
const modules = new Map();
function importModule({ _esm_file, _esm }) {
    if (_esm_file) return import(new URL(_esm_file, document.baseURI));
    if (!modules.has(_esm)) {
        const url = URL.createObjectURL(new Blob([_esm], { type: "text/javascript" }));
        modules.set(_esm, import(url).finally(() => URL.revokeObjectURL(url)));
    }
    return modules.get(_esm);
}

// The same with a large state.
async function loadState(state) {
    if (!state._state_file) return;
    const answer = await fetch(new URL(state._state_file, document.baseURI));
    if (!answer.ok) throw new Error(`${answer.status}`);
    Object.assign(state, await answer.json());
}

function addStyle(css) {
    if (!css || [...document.querySelectorAll("style.afm-css")].some((style) => style.textContent === css)) return;
    const style = document.createElement("style");
    style.className = "afm-css";
    style.textContent = css;
    document.head.append(style);
}

// ---- views ----

// The still gives way to the widget within one task, so that the reader never sees an empty place.
async function showLive(view, model) {
    const [{ default: widget, still }] = await Promise.all([importModule(model.state), loadState(model.state)]);
    addStyle(model.get("_css"));
    const stills = [...view.childNodes];
    const el = document.createElement("div");
    el.className = "afm-live";
    view.append(el);
    try {
        await (typeof widget === "function" ? await widget() : widget).render({ model, el });
    } catch (error) {
        el.remove();
        throw error;
    }
    for (const node of stills) node.remove();
    if (still) printStill(el, () => still(model.state));
}

// On paper a widget is its still, which shows all at once what the screen shows step by step, at the settings of now.
function printStill(el, still) {
    const paper = document.createElement("div");
    addEventListener("beforeprint", () => {
        paper.innerHTML = still();
        el.replaceWith(paper);
    });
    addEventListener("afterprint", () => paper.replaceWith(el));
}

function addLine(view, text, className = "afm-line") {
    if (view.querySelector(`.${className.split(" ").at(-1)}`)) return;
    const line = document.createElement("p");
    line.className = className;
    line.append(text);
    const colab = document.querySelector('a[href*="colab.research.google.com"]');
    if (colab) {
        const link = document.createElement("a");
        link.href = colab.href;
        link.textContent = "Colab에서 열기";
        line.append(" ", link);
    }
    view.append(line);
}

// ---- start ----

const models = new Map();
for (const block of document.querySelectorAll(STATE)) {
    for (const [id, { state, model_module }] of Object.entries(JSON.parse(block.textContent).state)) {
        models.set(id, Object.assign(createModel(state, models), { state, isAnywidget: model_module === "anywidget" }));
    }
}

async function revive(view, script) {
    const model = models.get(JSON.parse(script.textContent).model_id);
    try {
        if (!model) throw new Error("저장된 상태가 없습니다");
        if (model.isAnywidget) await showLive(view, model); // another widget needs Python, its still stays
    } catch (error) {
        addLine(view, `위젯을 불러오지 못했습니다(${error.message}).`, "afm-line afm-error");
    }
}

// A widget comes alive when the reader comes within a screen of it: a page with many starts as fast as one with none.
const waiting = new Map(); // view -> its script
const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) start(target);
}, { rootMargin: "100%" });
function start(view) {
    const script = waiting.get(view);
    if (!waiting.delete(view)) return;
    near.unobserve(view);
    revive(view, script);
}
function startAll() {
    for (const view of [...waiting.keys()]) start(view);
}

for (const script of document.querySelectorAll(VIEW)) {
    let view = script.closest(".afm-view");
    if (!view) {
        view = document.createElement("div");
        view.className = "afm-view";
        script.replaceWith(view);
        view.append(script);
    }
    waiting.set(view, script);
    near.observe(view);
}
// An address like #s=... speaks to a widget, which has to hear it wherever it is.
if (location.hash.includes("=")) startAll();
// Tab goes from control to control, and a still has none.
addEventListener("keydown", ({ key }) => key === "Tab" && startAll());
