// The module Worker around bert.js: loads the files of this folder and answers sentences, off the page's own thread.
//
//   to it      { id, size: true }   what must be loaded before the first sentence
//              { id, text }         a sentence
//              { id, cancel: true } forget that sentence, and stop what it downloads
//   from it    { id, bytes }        answers size
//              { id, loaded, total }               progress of the download, in bytes
//              { id, tokens, layers, heads, maps } answers text; maps: Float32Array of (layers, heads, T, T)
//              { id, error: { kind, ... } }        "empty", "too_long" (count, most), "missing" (file, status),
//                                                  "truncated" (file, bytes, expected), "interrupted" (file),
//                                                  "cancelled", "fault" (message)
//
// Nothing is kept of a file that did not arrive whole, so the same question may simply be asked again.

import { attend, embeddingRows, readModel, readVocabulary, tokenize } from "./bert.js";

class Failure extends Error {
    constructor(kind, facts) {
        super(kind);
        this.facts = { kind, ...facts };
    }
}

// ---- files ---------------------------------------------------------------------------------------------------------

const damaged = new Set(); // files that the browser's cache may hold in part, or as missing: fetched anew

// The bytes of a file. `received(bytes)` is called as they come, with how many more there are.
async function load(name, { signal, version, size, received = () => {} }) {
    let response;
    const bytes = [];
    let count = 0;
    try {
        const address = new URL(version ? `${name}?v=${version}` : name, import.meta.url);
        // With the version in the address, what the browser has under it is right for good.
        const cache = damaged.has(name) ? "reload" : version ? "force-cache" : "no-cache";
        response = await fetch(address, { signal, cache });
        if (response.ok) {
            for (const reader = response.body.getReader(); ;) {
                const { done, value } = await reader.read();
                if (done) break;
                bytes.push(value);
                count += value.length;
                received(value.length);
            }
        }
    } catch {
        damaged.add(name);
        received(-count);
        throw new Failure(signal.aborted ? "cancelled" : "interrupted", { file: name });
    }
    if (!response.ok) {
        damaged.add(name); // browsers keep a 404 too
        throw new Failure("missing", { file: name, status: response.status });
    }
    if (size !== undefined && count !== size) {
        damaged.add(name);
        received(-count);
        throw new Failure("truncated", { file: name, bytes: count, expected: size });
    }
    damaged.delete(name);
    const whole = new Uint8Array(count);
    let at = 0;
    for (const part of bytes) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

const kept = new Map(); // name of a file -> what was read out of it

const shardName = (shard) => `embeddings/${String(shard).padStart(3, "0")}.bin`;
const halves = (bytes) => new Uint16Array(bytes.buffer); // every computer with a browser keeps the low byte first

async function config(signal) {
    if (!kept.has("model.json")) {
        const text = new TextDecoder().decode(await load("model.json", { signal }));
        try {
            kept.set("model.json", JSON.parse(text));
        } catch {
            damaged.add("model.json");
            throw new Failure("truncated", { file: "model.json", bytes: text.length });
        }
    }
    return kept.get("model.json");
}

// Loads those of the files that are not there yet, side by side; `read(bytes)` makes of each what is kept.
async function loadAll(readers, { signal, progress }) {
    const { version, files } = await config(signal);
    const names = Object.keys(readers).filter((name) => !kept.has(name));
    const total = names.reduce((sum, name) => sum + files[name], 0);
    let loaded = 0;
    const received = (bytes) => {
        loaded += bytes;
        progress?.(loaded, total);
    };
    // The first failure stops the others: the reader is told of it at once, not after 18 MB more. Not by AbortSignal.any,
    // which browsers have since 2024 only.
    const stop = new AbortController();
    const cancel = () => stop.abort();
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
    try {
        await Promise.all(names.map(async (name) => {
            const options = { signal: stop.signal, version, size: files[name], received };
            try {
                kept.set(name, readers[name](await load(name, options)));
            } catch (failure) {
                stop.abort();
                throw failure;
            }
        }));
    } finally {
        signal.removeEventListener("abort", cancel);
    }
}

// ---- answers -------------------------------------------------------------------------------------------------------

async function answer(text, { signal, progress }) {
    // The words first: a text that is too long, or none at all, costs no model.
    await loadAll({ "vocab.txt": (bytes) => readVocabulary(new TextDecoder().decode(bytes)) }, { signal });
    const settings = kept.get("model.json");
    const vocabulary = kept.get("vocab.txt");
    const tokens = tokenize(text, vocabulary);
    const T = tokens.length;
    if (T === 2) throw new Failure("empty");
    if (T > settings.max_tokens) throw new Failure("too_long", { count: T, most: settings.max_tokens });

    const ids = tokens.map((token) => vocabulary.get(token));
    const shards = [...new Set(ids.map((id) => Math.floor(id / settings.rows)))];
    await loadAll({
        "encoder.bin": (bytes) => readModel(settings, halves(bytes)),
        ...Object.fromEntries(shards.map((shard) => [shardName(shard), halves])),
    }, { signal, progress });

    const words = embeddingRows(ids, new Map(shards.map((shard) => [shard, kept.get(shardName(shard))])), settings);
    const model = kept.get("encoder.bin");
    const maps = new Float32Array(model.num_layers * model.num_heads * T * T);
    attend(words, model).forEach((map, layer) => maps.set(map, layer * map.length));
    return { tokens, layers: model.num_layers, heads: model.num_heads, maps };
}

async function size(signal) {
    const { files } = await config(signal);
    return files["vocab.txt"] + files["encoder.bin"];
}

// ---- messages ------------------------------------------------------------------------------------------------------

const running = new Map(); // id -> AbortController
let last = Promise.resolve(); // one question after the other, so that no file is loaded twice

addEventListener("message", ({ data: { id, text, cancel } }) => {
    if (cancel) return running.get(id)?.abort();
    const controller = new AbortController();
    running.set(id, controller);
    last = last.then(() => reply(id, text, controller.signal));
});

async function reply(id, text, signal) {
    try {
        if (text === undefined) {
            postMessage({ id, bytes: await size(signal) });
        } else {
            const progress = (loaded, total) => postMessage({ id, loaded, total });
            const result = await answer(text, { signal, progress });
            if (signal.aborted) throw new Failure("cancelled");
            postMessage({ id, ...result }, [result.maps.buffer]);
        }
    } catch (failure) {
        const facts = failure instanceof Failure ? failure.facts : { kind: "fault", message: String(failure) };
        postMessage({ id, error: signal.aborted ? { kind: "cancelled" } : facts });
    } finally {
        running.delete(id);
    }
}
