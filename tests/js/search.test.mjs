// What a Korean query becomes before Pagefind sees it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { union, withoutParticles } from "../../site/search.js";

for (const [query, stem] of [
  ["헤드를", "헤드"],
  ["헤드에서", "헤드"],
  ["쿼리와 키는", "쿼리 키"],
  ["행렬으로", "행렬"],
  ["값을", "값"],
  ["BERT의", "BERT의"],
  ["키를", "키"],
  ["차원으로", "차원"],
  ["차이", "차이"],
  ["마을", "마을"],
  ["종로", "종로"],
  ["길로", "길"],
  ["정도", "정도"],
  ["헤드의", "헤드"],
  ["헤드", "헤드"],
  ["은", "은"],
  ["softmax", "softmax"],
]) {
  test(`"${query}" is also searched as "${stem}"`, () => assert.equal(withoutParticles(query), stem));
}

test("results as typed come first and no page comes twice", () => {
  const [a, b, c] = [{ id: "a" }, { id: "b" }, { id: "c" }];
  assert.deepEqual(union([b, a], [a, c]), [b, a, c]);
});
