import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import {
    chipWithoutTranspose, clampInteger, countWrongTokens, divisors, formatNumber, isContiguous, josa, splitFault,
    splitHeads, tuple,
} from "../../src/multihead/widgets/core.js";

const LIMITS = { h: [1, 16], d_model: [8, 512], T: [2, 8] };

test("numbers are grouped by thousands and shapes look as in Python", () => {
    assert.deepEqual([7, 512, 1050624, 1048576].map(formatNumber), ["7", "512", "1,050,624", "1,048,576"]);
    assert.equal(tuple([1, 5, 64]), "(1, 5, 64)");
});

test("particles follow the spoken number", () => {
    const read = (pair) => [10, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => josa(n, pair).slice(String(n).length));
    assert.deepEqual(read("은/는"), ["은", "은", "는", "은", "는", "는", "은", "은", "은", "는"]);
    assert.deepEqual(read("으로/로"), ["으로", "로", "로", "으로", "로", "로", "으로", "로", "로", "로"]);
});

test("divisors are all the divisors", () => {
    assert.deepEqual(divisors(12), [1, 2, 3, 4, 6, 12]);
    assert.deepEqual(divisors(7), [1, 7]);
});

test("a pair that does not divide is explained with both numbers, and every proposal divides", () => {
    for (let d_model = LIMITS.d_model[0]; d_model <= LIMITS.d_model[1]; d_model++) {
        for (let h = LIMITS.h[0]; h <= LIMITS.h[1]; h++) {
            const fault = splitFault({ h, d_model }, LIMITS);
            if (d_model % h === 0) {
                assert.equal(fault, null);
                continue;
            }
            assert.match(fault, new RegExp(`^d_model = ${d_model}[은는] h = ${h}(으로|로) 나누어떨어지지 않습니다\\.`));
            assert.match(fault, new RegExp(`몫은 ${Math.floor(d_model / h)}, 나머지는 ${d_model % h}입니다`));
            const proposals = fault.split("입니다. ")[1];
            const [, heads = "", widths = ""] = proposals.match(/^(?:h를 (.*?)로 바꾸거나 )?(?:d_model을 (.*))?$/);
            for (const n of heads.match(/\d+/g) ?? []) assert.ok(d_model % n === 0 && n <= LIMITS.h[1], fault);
            for (const n of widths.match(/\d+/g) ?? []) assert.ok(n % h === 0 && n >= 8 && n <= 512, fault);
            assert.ok(heads && widths, `no way out: ${fault}`);
        }
    }
});

test("the sentence reads well", () => {
    assert.equal(
        splitFault({ h: 3, d_model: 64 }, LIMITS),
        "d_model = 64는 h = 3으로 나누어떨어지지 않습니다. 몫은 21, 나머지는 1입니다. " +
        "h를 2나 4로 바꾸거나 d_model을 63이나 66으로 바꾸면 나누어떨어집니다.",
    );
});

test("a typed number is taken, or clamped with a sentence, or refused with a sentence", () => {
    const clamp = (text) => clampInteger(text, [1, 16], "헤드 수 h");
    assert.deepEqual(clamp("8"), { value: 8, note: "" });
    for (const [text, value] of [["99", 16], ["0", 1], ["-3", 1], ["3.5", 4], ["1e9", 16], ["Infinity", 16]]) {
        assert.equal(clamp(text).value, value, text);
        assert.ok(clamp(text).note.includes(`${text} 대신 ${value}`), clamp(text).note);
    }
    for (const text of ["", "  ", "여덟", "<b>"]) {
        assert.equal(clamp(text).value, null);
        assert.match(clamp(text).note, /숫자를 읽을 수 없어/);
    }
});

// Numbers that torch wrote during this very test run: tests/unit/test_widgets_js.py sets the path.
test("shapes, strides, contiguity and misplaced tokens equal torch", { skip: !process.env.TORCH_SPLITS }, async () => {
    const cases = JSON.parse(await readFile(process.env.TORCH_SPLITS, "utf8"));
    assert.ok(cases.length >= 200);
    for (const { setting, steps, wrong_tokens, wrong_chips } of cases) {
        const ours = splitHeads(setting);
        for (const [step, { shape, strides, contiguous }] of Object.entries(steps)) {
            const label = `${step} ${JSON.stringify(setting)}`;
            assert.deepEqual(ours[step].shape, shape, label);
            assert.deepEqual(ours[step].strides, strides, label);
            assert.equal(isContiguous(ours[step].shape, ours[step].strides), contiguous, label);
        }
        assert.equal(countWrongTokens(setting), wrong_tokens);
        wrong_chips.forEach((row, block) => row.forEach(([token, head], position) =>
            assert.deepEqual(chipWithoutTranspose(block, position, setting), { token, head })));
    }
});
