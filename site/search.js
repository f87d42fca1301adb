// Search of the book: Pagefind's index, our own dialog and results page.
// Pagefind finds words by their beginning: 헤드 finds 헤드를, but 헤드를 would not find 헤드가. So a query with a particle is
// searched without it as well.

const LONE_JAMO_AT_END = /[ㄱ-ㅎㅏ-ㅣ]+$/u;  // the input method has not finished this syllable
const PAGES_IN_DIALOG = 6;
const SECTIONS_OF_A_PAGE = 3;

const finalConsonant = (syllable) => (syllable.codePointAt(0) - 0xac00) % 28;  // 0: there is none
const RIEUL = 8;

/** A word without the particle at its end, if that can be one: 값이 -> 값; but 차이 stays, for 이 follows a consonant. */
function stem(word) {
  const [, rest, particle] = word.match(/^(.*?[가-힣])(에서|부터|까지|으로|[은는이가을를와과로의에도만])$/u) ?? [];
  if (!rest) return word;
  const final = finalConsonant(rest.at(-1));
  const fits =
    /^[은이을과]$/u.test(particle) ? final !== 0 :
    /^[는가를와]$/u.test(particle) ? final === 0 :
    particle === "로" ? final === 0 || final === RIEUL :
    particle.length > 1 || rest.length > 1;  // 의, 에, 도, 만 after a single syllable mostly belong to it: 정도, 주의
  return fits ? rest : word;
}

/** The query with the particle of each word taken off: "헤드를 나누기" -> "헤드 나누기". */
export function withoutParticles(query) {
  return query.split(" ").map(stem).join(" ");
}

/** Results of both forms of the query, those of the query as typed first, each page once. */
export function union(asTyped, stripped) {
  const seen = new Set(asTyped.map((result) => result.id));
  return [...asTyped, ...stripped.filter((result) => !seen.has(result.id))];
}

let pagefind;  // loaded when the reader first searches

// Pagefind keeps its words in alphabetical pieces and loads the one in which the query itself would stand, whereas
// 헤드는 and 헤드의 may stand in the next. These endings are spread over the range of what can follow a word.
const ENDINGS = ["가", "는", "로", "에", "의", "힣"];

async function search(query) {
  pagefind ??= await import(new URL("../pagefind/pagefind.js", import.meta.url));
  await Promise.all(ENDINGS.map((ending) => pagefind.preload(withoutParticles(query) + ending)));
  const asTyped = (await pagefind.search(query)).results;
  const stripped = withoutParticles(query);
  return stripped === query ? asTyped : union(asTyped, (await pagefind.search(stripped)).results);
}

/** The sections of a page that fit best, in the order of the page. */
function bestSections({ sub_results: sections }) {
  const score = ({ weighted_locations: places }) => Math.max(...places.map((place) => place.balanced_score));
  const best = [...sections].sort((a, b) => score(b) - score(a)).slice(0, SECTIONS_OF_A_PAGE);
  return sections.filter((section) => best.includes(section));
}

function resultItem(page) {
  const item = document.createElement("li");
  for (const { title, url, excerpt } of bestSections(page)) {
    const link = item.appendChild(document.createElement("a"));
    link.href = url;
    link.appendChild(document.createElement("strong")).textContent = title;
    if (title !== page.meta.title) link.appendChild(document.createElement("small")).textContent = page.meta.title;
    link.appendChild(document.createElement("span")).innerHTML = excerpt;  // Pagefind escapes the text and adds <mark>
  }
  return item;
}

/** Searches while the reader types, and moves through the results with the arrow keys. */
function attach(box, limit) {
  const form = box.querySelector("form");
  const input = form.querySelector("input");
  const status = box.querySelector("[role=status]");
  const list = box.querySelector("ol");
  let newest = 0;

  async function update({ composing = false } = {}) {
    const ticket = ++newest;
    try {
      // The widgets' own module, beside this one on the site: the same text in any Unicode form is the same query.
      const { normalizeText } = await import(new URL("text.js", import.meta.url));
      const query = normalizeText(input.value).replace(LONE_JAMO_AT_END, "").trim();
      if (ticket !== newest) return;
      if (!query) {
        status.textContent = "";
        list.replaceChildren();
        return;
      }
      if (!list.children.length) status.textContent = "찾는 중입니다…";
      const found = await search(query);
      // 헤드 is typed as 헤, 헫, 헤드: do not flash "nothing found" for a syllable on its way.
      if (ticket !== newest || (composing && !found.length && list.children.length)) return;
      const shown = await Promise.all(found.slice(0, limit).map((result) => result.data()));
      if (ticket !== newest) return;
      status.textContent = found.length ? `‘${query}’ 검색 결과: 페이지 ${found.length}개` : `‘${query}’에 맞는 페이지가 없습니다.`;
      list.replaceChildren(...shown.map(resultItem));
      if (found.length > limit) {
        const all = document.createElement("li");
        const link = all.appendChild(document.createElement("a"));
        link.href = `${form.action}?q=${encodeURIComponent(query)}`;
        link.textContent = `페이지 ${found.length}개 모두 보기`;
        list.append(all);
      }
    } catch (error) {
      if (ticket === newest) status.textContent = "검색 자료를 읽지 못했습니다. 잠시 뒤에 다시 해 주십시오.";
      throw error;
    }
  }

  input.addEventListener("input", (event) => update({ composing: event.isComposing }));
  input.addEventListener("compositionend", () => update());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    const stops = [input, ...list.querySelectorAll("a")];
    const next = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    stops[Math.min(Math.max(next, 0), stops.length - 1)].focus();
  });
  return { input, update };
}

function startPage(box) {
  const { input, update } = attach(box, Infinity);
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", () => {
    const url = new URL(location);
    url.searchParams.set("q", input.value);
    history.replaceState(null, "", url);
  });
  input.focus();
  update();
  return () => input.focus();
}

function startDialog(dialog) {
  const { input } = attach(dialog, PAGES_IN_DIALOG);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();  // the backdrop
    if (event.target.closest("a")) dialog.close();  // a result may be on this very page
  });
  return () => {
    if (!dialog.open) dialog.showModal();
    input.select();
  };
}

function start() {
  const page = document.querySelector(".book-search--page");
  const open = page ? startPage(page) : startDialog(document.getElementById("book-search"));
  for (const button of document.querySelectorAll(".book-search-open")) {
    button.addEventListener("click", open);
    if (navigator.platform.startsWith("Mac")) button.querySelector("kbd")?.replaceChildren("⌘ K");
  }
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    // The letter, where the layout has Latin ones, else the place of the key: with the Korean layout K types ㅏ.
    const isK = /^[a-z]$/iu.test(event.key) ? event.key.toLowerCase() === "k" : event.code === "KeyK";
    const shortcut = isK && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (shortcut || (event.key === "/" && !typing)) {
      event.preventDefault();
      open();
    }
  });
}

if (globalThis.document) start();
