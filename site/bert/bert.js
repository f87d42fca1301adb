// BERT in the browser: from a sentence to the attention weights of every head.
//
// It is the module of chapter 4 once more, without a library: a matrix is a Float32Array with its rows one after the
// other. Names and shapes follow the book: T tokens, D = d_model, h heads, d_k = D / h.

// ---- from text to tokens: WordPiece --------------------------------------------------------------------------------

const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const PUNCTUATION = /[!-\/:-@\[-`{-~\p{P}]/u;
// Chinese characters are words of their own; Hangul and kana are not.
const IDEOGRAPH = /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/u;

// Lower case without accents, one space between any two words, marks and ideographs.
export function splitWords(text) {
    let clean = "";
    for (const c of text) {
        if (/[\t\n\r]/.test(c)) clean += " ";
        else if (c === "\ufffd" || CONTROL.test(c)) continue;
        else if (/\p{White_Space}/u.test(c)) clean += " ";
        else clean += IDEOGRAPH.test(c) ? ` ${c} ` : c;
    }
    let words = "";
    for (const c of clean.normalize("NFD")) {
        if (/\p{Mn}/u.test(c)) continue;
        const lower = c.toLowerCase(); // one character at a time: the end of a word plays no role
        words += PUNCTUATION.test(lower) ? ` ${lower} ` : lower;
    }
    return words.split(" ").filter(Boolean);
}

// The longest known piece first, then the longest that continues it ("##ing"), and so on.
export function wordPieces(word, vocabulary) {
    const letters = [...word];
    if (letters.length > 100) return ["[UNK]"];
    const pieces = [];
    for (let start = 0, end; start < letters.length; start = end) {
        let piece;
        for (end = letters.length; end > start; end--) {
            piece = (start ? "##" : "") + letters.slice(start, end).join("");
            if (vocabulary.has(piece)) break;
        }
        if (end === start) return ["[UNK]"];
        pieces.push(piece);
    }
    return pieces;
}

// vocab.txt has token i in line i.
export const readVocabulary = (text) => new Map(text.trimEnd().split("\n").map((token, i) => [token, i]));

// vocabulary: Map from token to its number. Returns the tokens, with [CLS] and [SEP] around them.
export function tokenize(text, vocabulary) {
    const pieces = text.split(SPECIAL).flatMap((part) => SPECIAL.test(part)
        ? [part]
        : splitWords(part).flatMap((word) => wordPieces(word, vocabulary)));
    return ["[CLS]", ...pieces, "[SEP]"];
}

// ---- numbers -------------------------------------------------------------------------------------------------------

// float16 bits to float32, looked up: 65,536 numbers are quickly written down.
const HALF = new Float32Array(65536);
for (let bits = 0; bits < 65536; bits++) {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
    HALF[bits] = bits & 0x8000 ? -size : size;
}

export function fromHalf(halves) {
    const floats = new Float32Array(halves.length);
    for (let i = 0; i < halves.length; i++) floats[i] = HALF[halves[i]];
    return floats;
}

// x (T, n) times the transpose of weight (m, n), plus bias (m): what nn.Linear computes. Four rows of x and two of weight
// at a time, so that a number that has been fetched is used more than once, and in float64, the numbers that JavaScript
// computes with: float32 would be converted at every step. m is even.
export function linear(x, { weight, bias }, T) {
    const m = bias.length;
    const n = weight.length / m;
    const y = new Float32Array(T * m);
    const rows = Array.from({ length: T }, (_, t) => Float64Array.from(x.subarray(t * n, (t + 1) * n)));
    while (rows.length % 4) rows.push(rows[T - 1]); // computed once more, not kept
    const v = new Float64Array(n);
    const w = new Float64Array(n);
    for (let j = 0; j < m; j += 2) {
        v.set(weight.subarray(j * n, (j + 1) * n));
        w.set(weight.subarray((j + 1) * n, (j + 2) * n));
        for (let t = 0; t < T; t += 4) {
            const [x0, x1, x2, x3] = [rows[t], rows[t + 1], rows[t + 2], rows[t + 3]];
            let v0 = bias[j], v1 = v0, v2 = v0, v3 = v0;
            let w0 = bias[j + 1], w1 = w0, w2 = w0, w3 = w0;
            for (let k = 0; k < n; k++) {
                const vk = v[k], wk = w[k], p0 = x0[k], p1 = x1[k], p2 = x2[k], p3 = x3[k];
                v0 += p0 * vk; v1 += p1 * vk; v2 += p2 * vk; v3 += p3 * vk;
                w0 += p0 * wk; w1 += p1 * wk; w2 += p2 * wk; w3 += p3 * wk;
            }
            const [vs, ws] = [[v0, v1, v2, v3], [w0, w1, w2, w3]];
            for (let i = 0; i < 4 && t + i < T; i++) {
                y[(t + i) * m + j] = vs[i];
                y[(t + i) * m + j + 1] = ws[i];
            }
        }
    }
    return y;
}

const add = (a, b) => a.map((number, i) => number + b[i]);

// Each row to mean 0 and variance 1, then stretched and moved.
export function layerNorm(x, { weight, bias }, eps) {
    const D = bias.length;
    const y = new Float32Array(x.length);
    for (let start = 0; start < x.length; start += D) {
        const row = x.subarray(start, start + D);
        const mean = row.reduce((sum, number) => sum + number, 0) / D;
        const variance = row.reduce((sum, number) => sum + (number - mean) ** 2, 0) / D;
        const scale = 1 / Math.sqrt(variance + eps);
        for (let i = 0; i < D; i++) y[start + i] = (row[i] - mean) * scale * weight[i] + bias[i];
    }
    return y;
}

// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: wrong by at most 1.5e-7.
function erf(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x));
    const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    return Math.sign(x) * (1 - tail * Math.exp(-x * x));
}
const gelu = (x) => 0.5 * x * (1 + erf(x / Math.SQRT2));

// ---- the model -----------------------------------------------------------------------------------------------------

// What bert_files.py has written: model.json, and the numbers of encoder.bin as float16 bits.
export function readModel(config, halves) {
    const read = (name) => {
        const { offset, shape } = config.tensors[name];
        return fromHalf(halves.subarray(offset, offset + shape.reduce((a, b) => a * b)));
    };
    const pair = (name) => `${name}.weight` in config.tensors
        ? { weight: read(`${name}.weight`), bias: read(`${name}.bias`) } : null; // the last layer ends after its maps
    const layers = Array.from({ length: config.num_layers }, (_, i) => {
        const at = `encoder.layer.${i}`;
        return {
            W_Q: pair(`${at}.attention.self.query`), W_K: pair(`${at}.attention.self.key`),
            W_V: pair(`${at}.attention.self.value`), W_O: pair(`${at}.attention.output.dense`),
            norm_1: pair(`${at}.attention.output.LayerNorm`),
            W_1: pair(`${at}.intermediate.dense`), W_2: pair(`${at}.output.dense`), norm_2: pair(`${at}.output.LayerNorm`),
        };
    });
    return {
        ...config, layers, norm: pair("embeddings.LayerNorm"),
        positions: read("embeddings.position_embeddings.weight"),
        segment: read("embeddings.token_type_embeddings.weight").subarray(0, config.d_model),
    };
}

// The rows of the word embeddings that belong to the tokens `ids`: (T, D). files: Map from the number of a file of
// `model.rows` rows to its float16 bits.
export function embeddingRows(ids, files, { rows, d_model: D }) {
    const words = new Float32Array(ids.length * D);
    ids.forEach((id, t) => {
        const start = (id % rows) * D;
        words.set(fromHalf(files.get(Math.floor(id / rows)).subarray(start, start + D)), t * D);
    });
    return words;
}

// softmax(q kᵀ / √d_k) of every head: (h, T, T). Head i owns the columns from i * d_k on; no split_heads moves a number.
function attentionWeights(q, k, T, h) {
    const D = q.length / T;
    const d_k = D / h;
    const weights = new Float32Array(h * T * T);
    for (let head = 0; head < h; head++) {
        for (let t = 0; t < T; t++) {
            const row = weights.subarray((head * T + t) * T, (head * T + t + 1) * T);
            for (let s = 0; s < T; s++) {
                let dot = 0;
                for (let i = head * d_k; i < (head + 1) * d_k; i++) dot += q[t * D + i] * k[s * D + i];
                row[s] = dot / Math.sqrt(d_k);
            }
            const largest = row.reduce((a, b) => Math.max(a, b));
            let sum = 0;
            for (let s = 0; s < T; s++) sum += row[s] = Math.exp(row[s] - largest);
            for (let s = 0; s < T; s++) row[s] /= sum;
        }
    }
    return weights;
}

// The heads' averages of v (T, D), side by side: (T, D).
function mix(weights, v, T, h) {
    const D = v.length / T;
    const d_k = D / h;
    const heads = new Float32Array(T * D);
    for (let head = 0; head < h; head++) {
        for (let t = 0; t < T; t++) {
            for (let s = 0; s < T; s++) {
                const weight = weights[(head * T + t) * T + s];
                for (let i = head * d_k; i < (head + 1) * d_k; i++) heads[t * D + i] += weight * v[s * D + i];
            }
        }
    }
    return heads;
}

// words: (T, D), the rows of the word embeddings for the tokens. Returns the weights of each layer, (h, T, T).
export function attend(words, model) {
    const { d_model: D, num_heads: h, eps } = model;
    const T = words.length / D;
    let x = words.map((number, i) => number + model.segment[i % D] + model.positions[i]);
    x = layerNorm(x, model.norm, eps);
    const maps = [];
    for (const { W_Q, W_K, W_V, W_O, norm_1, W_1, W_2, norm_2 } of model.layers) {
        const weights = attentionWeights(linear(x, W_Q, T), linear(x, W_K, T), T, h);
        maps.push(weights);
        if (W_V === null) break;
        x = layerNorm(add(x, linear(mix(weights, linear(x, W_V, T), T, h), W_O, T)), norm_1, eps);
        x = layerNorm(add(x, linear(linear(x, W_1, T).map(gelu), W_2, T)), norm_2, eps);
    }
    return maps;
}
