// The two-neighbours experiment of neighbours.py, trained in the browser: forward, backward by hand, AdamW.
//
// No library and no autograd: every derivative that chapters/appendix_gradient.md derives is a loop below. The letters
// are those of attention.py (B batch, T length, D d_model, h heads, d_k = D / h) and V for the size of the vocabulary.
// A tensor is one Float64Array, row by row, and (B, T, D) is stored as N = B · T rows of D numbers. JavaScript computes
// in double precision anyway: with Float64Array nothing is rounded in between. `dX` is the derivative of the loss by X.
//
// Random numbers come from a small generator of our own. It is not that of PyTorch: the same seed gives other weights
// and other sequences there, and the curves agree in kind, not digit by digit.

export const VOCABULARY = [..."ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎㅏㅑㅓㅕㅗㅛㅜㅠㅡㅣ"];
export const V = VOCABULARY.length;
export const T = 16;
export const BATCH = 32;
export const STEPS = 500;
export const GUESSING = 2 * Math.log(V); // loss of a model that takes every token for equally likely
const HELD_OUT = 128; // sequences that accuracy is measured on

// ---- random numbers ----------------------------------------------------------------------------------------------

// Numbers in [0, 1): xorshift with 32 bits (Marsaglia 2003, "Xorshift RNGs"). Seeds that differ by 1 start out alike,
// so the first ones are thrown away.
export function randomNumbers(seed) {
    let state = (Math.imul(seed, 0x9e3779b1) ^ 0x2545f491) || 1; // 0 would stay 0 for ever
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) / 2 ** 32;
    };
    for (let i = 0; i < 20; i++) next();
    return next;
}

// A normally distributed number: Box and Muller (1958).
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

// `count` sequences of T tokens, each token as likely as any other: (count, T)
export const randomSequences = (count, random) =>
    Uint8Array.from({ length: count * T }, () => Math.floor(random() * V));

// ---- model -------------------------------------------------------------------------------------------------------

// Names and shapes as in the state_dict of NeighbourModel; a linear layer's weight is (outputs, inputs).
export function shapes(D) {
    const linear = (name, outputs) => ({ [`${name}.weight`]: [outputs, D], [`${name}.bias`]: [outputs] });
    return {
        "token_embedding.weight": [V, D],
        "position_embedding.weight": [T, D],
        ...linear("attention.W_Q", D), ...linear("attention.W_K", D),
        ...linear("attention.W_V", D), ...linear("attention.W_O", D),
        "norm.weight": [D], "norm.bias": [D],
        ...linear("left", V), ...linear("right", V),
    };
}

// h, d_model  as in NeighbourModel, d_model divisible by h
// scaling     true: scores are divided by √d_k, as in the paper
// seed        of the parameters: Xavier's uniform weights, biases of 0, embeddings with deviation 0.5
export function createModel({ h, d_model, scaling, seed }) {
    const random = randomNumbers(2 * seed + 1);
    const parameters = {};
    for (const [name, [rows, columns]] of Object.entries(shapes(d_model))) {
        const values = new Float64Array(rows * (columns ?? 1));
        if (name.endsWith("embedding.weight")) values.forEach((_, i) => { values[i] = 0.5 * normal(random); });
        else if (columns) {
            const bound = Math.sqrt(6 / (rows + columns));
            values.forEach((_, i) => { values[i] = bound * (2 * random() - 1); });
        } else if (name === "norm.weight") values.fill(1);
        parameters[name] = values;
    }
    return { h, D: d_model, scale: scaling ? 1 / Math.sqrt(d_model / h) : 1, parameters };
}

// ---- linear layer:  y = x Wᵀ + b ---------------------------------------------------------------------------------

function linear(x, W, b) {
    const O = b.length, I = W.length / O, N = x.length / I;
    const y = new Float64Array(N * O);
    for (let n = 0; n < N; n++) {
        for (let o = 0; o < O; o++) {
            let sum = b[o];
            for (let i = 0; i < I; i++) sum += x[n * I + i] * W[o * I + i];
            y[n * O + o] = sum;
        }
    }
    return y;
}

// dx = dy W,  dW = dyᵀ x,  db = Σ_n dy_n.  Adds to dx: what several layers read gets a share from each.
function linearBackward(dy, x, W, dx, dW, db) {
    const O = db.length, I = W.length / O, N = x.length / I;
    for (let n = 0; n < N; n++) {
        for (let o = 0; o < O; o++) {
            const d = dy[n * O + o];
            if (d === 0) continue; // the ends of a sequence have no answer
            db[o] += d;
            for (let i = 0; i < I; i++) {
                dx[n * I + i] += d * W[o * I + i];
                dW[o * I + i] += d * x[n * I + i];
            }
        }
    }
}

// ---- attention:  S = scale · Q Kᵀ,  A = softmax(S),  O = A V, for each sequence and each head ---------------------

// q, k, v (N, D). Head i has columns i·d_k to (i+1)·d_k of every row, so nothing needs to be split or merged.
// Returns the weights A (B, h, T, T) and the heads side by side, O (N, D).
function attention(q, k, v, { h, D, scale }) {
    const d_k = D / h, B = q.length / (T * D);
    const A = new Float64Array(B * h * T * T);
    const O = new Float64Array(q.length);
    for (let b = 0; b < B; b++) {
        for (let head = 0; head < h; head++) {
            for (let t = 0; t < T; t++) {
                const query = (b * T + t) * D + head * d_k; // where this head's part of the query starts
                const row = ((b * h + head) * T + t) * T; // where its row of A starts
                let largest = -Infinity;
                for (let s = 0; s < T; s++) {
                    const key = (b * T + s) * D + head * d_k;
                    let dot = 0;
                    for (let c = 0; c < d_k; c++) dot += q[query + c] * k[key + c];
                    A[row + s] = scale * dot;
                    largest = Math.max(largest, A[row + s]);
                }
                let sum = 0;
                for (let s = 0; s < T; s++) sum += A[row + s] = Math.exp(A[row + s] - largest);
                for (let s = 0; s < T; s++) {
                    const weight = A[row + s] /= sum;
                    const value = (b * T + s) * D + head * d_k;
                    for (let c = 0; c < d_k; c++) O[query + c] += weight * v[value + c];
                }
            }
        }
    }
    return { A, O };
}

// dV = Aᵀ dO                                 a value gets its share of what every query asks for
// dA = dO Vᵀ                                 a weight is wanted as far as its value points along dO
// dS = A ∘ (dA − Σ_s A_s dA_s)               softmax: more for one key is less for the others, by row
// dQ = scale · dS K,   dK = scale · dSᵀ Q
function attentionBackward(dO, q, k, v, A, { h, D, scale }) {
    const d_k = D / h, B = q.length / (T * D);
    const [dq, dk, dv] = [q, k, v].map(({ length }) => new Float64Array(length));
    const dA = new Float64Array(T); // one row at a time
    for (let b = 0; b < B; b++) {
        for (let head = 0; head < h; head++) {
            for (let t = 0; t < T; t++) {
                const query = (b * T + t) * D + head * d_k;
                const row = ((b * h + head) * T + t) * T;
                let mean = 0; // Σ_s A_s dA_s, the average of dA under the weights
                for (let s = 0; s < T; s++) {
                    const value = (b * T + s) * D + head * d_k;
                    let dot = 0;
                    for (let c = 0; c < d_k; c++) {
                        dot += dO[query + c] * v[value + c];
                        dv[value + c] += A[row + s] * dO[query + c];
                    }
                    dA[s] = dot;
                    mean += A[row + s] * dot;
                }
                for (let s = 0; s < T; s++) {
                    const key = (b * T + s) * D + head * d_k;
                    const dScore = scale * A[row + s] * (dA[s] - mean);
                    for (let c = 0; c < d_k; c++) {
                        dq[query + c] += dScore * k[key + c];
                        dk[key + c] += dScore * q[query + c];
                    }
                }
            }
        }
    }
    return { dq, dk, dv };
}

// ---- LayerNorm:  x̂ = (x − mean) / σ,  y = γ ∘ x̂ + β, by row ------------------------------------------------------

const EPSILON = 1e-5; // as in nn.LayerNorm

function layerNorm(x, gamma, beta) {
    const D = gamma.length, N = x.length / D;
    const normed = new Float64Array(x.length), y = new Float64Array(x.length), sigma = new Float64Array(N);
    for (let n = 0; n < N; n++) {
        let mean = 0, variance = 0;
        for (let i = 0; i < D; i++) mean += x[n * D + i] / D;
        for (let i = 0; i < D; i++) variance += (x[n * D + i] - mean) ** 2 / D;
        sigma[n] = Math.sqrt(variance + EPSILON);
        for (let i = 0; i < D; i++) {
            normed[n * D + i] = (x[n * D + i] - mean) / sigma[n];
            y[n * D + i] = gamma[i] * normed[n * D + i] + beta[i];
        }
    }
    return { y, normed, sigma };
}

// With g = γ ∘ dy:  dx = (g − mean(g) − x̂ · mean(g ∘ x̂)) / σ: mean and σ depend on every number of the row.
function layerNormBackward(dy, { normed, sigma }, gamma, dGamma, dBeta) {
    const D = gamma.length, N = sigma.length;
    const dx = new Float64Array(dy.length);
    for (let n = 0; n < N; n++) {
        let mean = 0, along = 0;
        for (let i = 0; i < D; i++) {
            const d = dy[n * D + i];
            dGamma[i] += d * normed[n * D + i];
            dBeta[i] += d;
            mean += (gamma[i] * d) / D;
            along += (gamma[i] * d * normed[n * D + i]) / D;
        }
        for (let i = 0; i < D; i++) {
            dx[n * D + i] = (gamma[i] * dy[n * D + i] - mean - normed[n * D + i] * along) / sigma[n];
        }
    }
    return dx;
}

// ---- cross entropy over the inner positions: the ends lack one of the two neighbours ------------------------------

// Loss in nats, averaged over positions, and dlogits = (softmax(logits) − 1 at the answer) / positions.
// `offset` is where the answer stands: -1 the left neighbour, +1 the right one.
function crossEntropy(logits, tokens, offset) {
    const B = tokens.length / T, positions = B * (T - 2);
    const dlogits = new Float64Array(logits.length);
    let loss = 0;
    for (let b = 0; b < B; b++) {
        for (let t = 1; t < T - 1; t++) {
            const n = b * T + t, answer = n * V + tokens[n + offset];
            let largest = -Infinity, sum = 0;
            for (let i = n * V; i < (n + 1) * V; i++) largest = Math.max(largest, logits[i]);
            for (let i = n * V; i < (n + 1) * V; i++) sum += dlogits[i] = Math.exp(logits[i] - largest);
            for (let i = n * V; i < (n + 1) * V; i++) dlogits[i] /= sum * positions;
            dlogits[answer] -= 1 / positions;
            loss += (largest + Math.log(sum) - logits[answer]) / positions;
        }
    }
    return { loss, dlogits };
}

// ---- the whole model ---------------------------------------------------------------------------------------------

// tokens (B, T). Returns every intermediate result: backward needs them.
export function forward(model, tokens) {
    const { D, parameters: p } = model;
    const project = (x, name) => linear(x, p[`${name}.weight`], p[`${name}.bias`]);
    const x = new Float64Array(tokens.length * D);
    for (let n = 0; n < tokens.length; n++) {
        for (let i = 0; i < D; i++) {
            x[n * D + i] = p["token_embedding.weight"][tokens[n] * D + i] +
                p["position_embedding.weight"][(n % T) * D + i];
        }
    }
    const q = project(x, "attention.W_Q"), k = project(x, "attention.W_K"), v = project(x, "attention.W_V");
    const { A, O } = attention(q, k, v, model);
    const added = project(O, "attention.W_O");
    for (let i = 0; i < x.length; i++) added[i] += x[i]; // the residual connection
    const norm = layerNorm(added, p["norm.weight"], p["norm.bias"]);
    const left = project(norm.y, "left"), right = project(norm.y, "right");
    const leftAnswer = crossEntropy(left, tokens, -1), rightAnswer = crossEntropy(right, tokens, +1);
    const loss = leftAnswer.loss + rightAnswer.loss;
    return { tokens, x, q, k, v, A, O, norm, left, right, leftAnswer, rightAnswer, loss };
}

// The chain rule, from the loss back to the embeddings. Returns a gradient for each parameter, by its name.
export function backward(model, { tokens, x, q, k, v, A, O, norm, leftAnswer, rightAnswer }) {
    const { D, parameters: p } = model;
    const gradients = Object.fromEntries(
        Object.entries(p).map(([name, { length }]) => [name, new Float64Array(length)]));
    const back = (dy, input, name, dx) => linearBackward(
        dy, input, p[`${name}.weight`], dx, gradients[`${name}.weight`], gradients[`${name}.bias`]);

    const dHidden = new Float64Array(x.length); // read by both answers
    back(leftAnswer.dlogits, norm.y, "left", dHidden);
    back(rightAnswer.dlogits, norm.y, "right", dHidden);
    const dAdded = layerNormBackward(dHidden, norm, p["norm.weight"], gradients["norm.weight"], gradients["norm.bias"]);

    const dO = new Float64Array(x.length);
    back(dAdded, O, "attention.W_O", dO);
    const { dq, dk, dv } = attentionBackward(dO, q, k, v, A, model);
    const dx = dAdded; // the residual connection hands its derivative on unchanged, the three projections add theirs
    back(dq, x, "attention.W_Q", dx);
    back(dk, x, "attention.W_K", dx);
    back(dv, x, "attention.W_V", dx);

    for (let n = 0; n < tokens.length; n++) {
        for (let i = 0; i < D; i++) {
            gradients["token_embedding.weight"][tokens[n] * D + i] += dx[n * D + i];
            gradients["position_embedding.weight"][(n % T) * D + i] += dx[n * D + i];
        }
    }
    return gradients;
}

// ---- AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101), with the numbers that torch.optim.AdamW has -------------

const BETA_1 = 0.9, BETA_2 = 0.999, ADAM_EPSILON = 1e-8, WEIGHT_DECAY = 0.01;

// Changes the parameters in place. `update(gradients)` is called once a step.
export function createAdamW({ parameters }, learningRate) {
    const moments = Object.fromEntries(Object.entries(parameters).map(([name, { length }]) =>
        [name, { mean: new Float64Array(length), square: new Float64Array(length) }]));
    let step = 0;
    return function update(gradients) {
        step++;
        const unbias1 = 1 - BETA_1 ** step, unbias2 = 1 - BETA_2 ** step; // both averages start at 0
        for (const [name, values] of Object.entries(parameters)) {
            const { mean, square } = moments[name], gradient = gradients[name];
            for (let i = 0; i < values.length; i++) {
                mean[i] = BETA_1 * mean[i] + (1 - BETA_1) * gradient[i];
                square[i] = BETA_2 * square[i] + (1 - BETA_2) * gradient[i] ** 2;
                values[i] *= 1 - learningRate * WEIGHT_DECAY;
                values[i] -= (learningRate * mean[i] / unbias1) / (Math.sqrt(square[i] / unbias2) + ADAM_EPSILON);
            }
        }
    };
}

// ---- what is measured --------------------------------------------------------------------------------------------

function largestAt(logits, n) {
    let best = n * V;
    for (let i = best + 1; i < (n + 1) * V; i++) if (logits[i] > logits[best]) best = i;
    return best - n * V;
}

// Loss; shares of the inner positions with the left, the right and both answers right; how much each head gives to the
// left and to the right neighbour (h pairs); and the maps of the first sequence (h, T, T).
export function measure(model, tokens) {
    const { left, right, A, loss } = forward(model, tokens);
    const { h } = model;
    const B = tokens.length / T, positions = B * (T - 2);
    const hits = { left: 0, right: 0, both: 0 };
    const shares = Array.from({ length: h }, () => [0, 0]);
    for (let b = 0; b < B; b++) {
        for (let t = 1; t < T - 1; t++) {
            const n = b * T + t;
            const isLeft = largestAt(left, n) === tokens[n - 1], isRight = largestAt(right, n) === tokens[n + 1];
            hits.left += isLeft / positions;
            hits.right += isRight / positions;
            hits.both += (isLeft && isRight) / positions;
            for (let head = 0; head < h; head++) {
                const row = ((b * h + head) * T + t) * T;
                shares[head][0] += A[row + t - 1] / positions;
                shares[head][1] += A[row + t + 1] / positions;
            }
        }
    }
    return { loss, ...hits, shares, maps: A.slice(0, h * T * T) };
}

export const heldOutSequences = () => randomSequences(HELD_OUT, randomNumbers(0));

// ---- a training run ----------------------------------------------------------------------------------------------

// Worse than guessing by far, or no number any more: the steps are too large to find back.
export const hasDiverged = (loss) => !(loss < 3 * GUESSING);

// Runs of one seed see the same sequences in the same order, whatever their h. `step()` returns the loss before it.
export function createTraining({ learning_rate, ...settings }) {
    const model = createModel(settings);
    const update = createAdamW(model, learning_rate);
    const random = randomNumbers(2 * settings.seed + 2);
    const heldOut = heldOutSequences();
    return {
        step() {
            const results = forward(model, randomSequences(BATCH, random));
            update(backward(model, results));
            return results.loss;
        },
        measure: () => measure(model, heldOut),
    };
}
