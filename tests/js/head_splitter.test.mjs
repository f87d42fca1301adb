import assert from "node:assert/strict";
import { test } from "node:test";

import { still } from "../../src/multihead/widgets/head_splitter.js";

const STATE = { h: 4, d_model: 64, T: 5, step: "view", token: 0, compact: false };
const count = (html, pattern) => html.match(pattern)?.length ?? 0;
const chips = (html) => count(html, /class="mh-box mh-chip/g);

test("the still shows view, transpose and the wrong view below each other", () => {
    const html = still(STATE);
    assert.equal(count(html, /class="mh-stage" role="img" aria-label="[^"]+"/g), 3);
    assert.equal(chips(html), 3 * 20);
    for (const text of ["x.view(1, 5, 4, 16)", "x.view(1, 5, 4, 16).transpose(1, 2)", "x.view(1, 4, 5, 16)"]) {
        assert.ok(html.includes(`<code>${text}</code>`), text);
    }
    assert.equal(count(html, /is-lost/g), 16);
    assert.ok(html.includes("20자리 가운데 16자리"));
});

test("the wrong view is shown with its token and its colour in each place", () => {
    const wrong = still(STATE).split("틀린 결과").at(-1);
    // Place (block 0, position 1) holds the second chip in memory: token 0, head 1.
    assert.match(wrong, /is-lost is-followed" style="[^"]*--head:var\(--head-1\)[^"]*"><b>나는<\/b><span>16–31/);
});

test("a compact still leaves the wrong way out", () => {
    const html = still({ ...STATE, compact: true });
    assert.equal(chips(html), 2 * 20);
    assert.ok(!html.includes("틀린 결과"));
});

test("the still of a pair that does not divide is the explanation and nothing else", () => {
    const html = still({ ...STATE, h: 3 });
    assert.match(html, /d_model = 64는 h = 3으로 나누어떨어지지 않습니다/);
    assert.equal(chips(html), 0);
});

test("no setting gives NaN, undefined or a chip outside of its stage", () => {
    for (let h = 1; h <= 16; h++) {
        for (let T = 2; T <= 16; T++) {
            for (const d_model of [8, 63, 64, 512]) {
                for (const token of [0, T - 1]) {
                    const html = still({ ...STATE, h, T, d_model, token });
                    assert.doesNotMatch(html, /NaN|undefined|null|\.\d+px/);
                    if (d_model % h) continue;
                    assert.equal(chips(html), 3 * h * T);
                    for (const stage of html.split('class="mh-stage"').slice(1)) {
                        const [, width, height] = stage.match(/style="width:(\d+)px;height:(\d+)px"/).map(Number);
                        for (const [, x, y, w, k] of stage.matchAll(
                            /mh-chip[^>]*translate\((\d+)px,(\d+)px\);width:(\d+)px;height:(\d+)px/g)) {
                            assert.ok(+x + +w <= width && +y + +k <= height);
                        }
                    }
                }
            }
        }
    }
});
