"""One word for one thing, and links that lead somewhere, in every text of the book."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from korean_anchors import slugify, unique

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("chapters/*.md"), *ROOT.glob("chapters/*.ipynb")]
SPOKEN = [*PAGES, *ROOT.glob("src/multihead/**/*.py"), *ROOT.glob("src/multihead/**/*.js")]
every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)

# The book's word, and what others write for it.
OTHER_WORDS = {
    "어텐션": "주의 집중|주의 메커니즘",
    "셀프 어텐션": "셀프어텐션|자기 주의|자기 어텐션|자기주의",
    "교차 어텐션": "교차어텐션|크로스 어텐션|크로스어텐션",
    "멀티헤드 어텐션": "멀티 헤드|다중 헤드|멀티헤드어텐션",
    "쿼리": "질의",
    "값": "밸류",
    "점수": "스코어",
    "가중치": "웨이트",
    "어텐션 지도": "어텐션 맵|어텐션맵|히트맵",
    "소프트맥스": "소프트 맥스",
    "투영": "(?<!정)사영|프로젝션|투사",
    "파라미터": "매개변수|매개 변수|패러미터|파라메터",
    "층": "레이어",
    "잔차": "레지듀얼|잔여 연결",
    "위치 인코딩": "포지셔널|포지션 인코딩|위치 부호화",
    "KV 캐시": "KV캐시|KV-캐시|캐쉬",
    "멀티 쿼리, 그룹 쿼리": "멀티쿼리|그룹쿼리|그룹드 쿼리",
    "디코딩": "디코드|복호화",
    "추론": "인퍼런스",
    "학습": "트레이닝|훈련",
    "사전학습": "사전 학습|사전훈련",
    "제거 실험": "절제 실험|어블레이션",
    "기준선": "베이스라인",
}


def text_of(path, kinds=("markdown", "code")):
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] in kinds)


def prose_of(path):
    """What is no code: of a notebook its Markdown cells, without blocks and words of code."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text_of(path, ["markdown"]), flags=re.M | re.S)


def anchors(path):
    """Anchors of a page: its headings, numbered where one comes twice (site/korean_anchors.py)."""
    text = re.sub(r"^```.*?^```", "", text_of(path, ["markdown"]), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.M):
        found.add(unique(slugify(re.sub(r"[*`]|\]\([^)]*\)", "", heading)), found))
    return found


GLOSSARY = {
    slugify(term): english
    for term, english in re.findall(r"^### (.+)\n\n\*(.+?)\*", text_of(ROOT / "chapters/glossary.md"), re.M)
}


@pytest.mark.parametrize("term", OTHER_WORDS)
def test_one_word_for_one_thing(term):
    found = []
    for path in SPOKEN:
        for number, line in enumerate(text_of(path).split("\n"), 1):
            if re.search(OTHER_WORDS[term], line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == [], f"the book says {term}"


@every_page
def test_a_term_that_leads_to_the_glossary_has_the_english_of_the_glossary(path):
    for anchor, english in re.findall(r"\*\*\]\([^)#]*glossary\.md#([^)]+)\)(?:\(([^)]+)\))?", text_of(path)):
        assert english == GLOSSARY[unquote(anchor)], anchor


@every_page
def test_every_link_to_a_file_of_the_book_leads_to_it_and_to_a_heading(path):
    for link in re.findall(r"\]\((?!https?:|data:|mailto:)([^)\s]+)\)", prose_of(path)):
        file, _, anchor = unquote(link).partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
