"""Static figures of weights, masks, costs, times and training runs: plain matplotlib figures, to show, save or change.

A notebook draws them once ``multihead.notebook.setup()`` has told it how.
"""

import math
import operator
import unicodedata
from collections.abc import Iterable, Sequence

import matplotlib as mpl
import torch
from matplotlib.figure import Figure

from .counting import attention_flops
from .fonts import drawable, korean_family
from .models.text import normalize_text
from .neighbours import Recording
from .palette import head_colour

ROW_SUM_TOLERANCE = 0.01  # half precision rounds every weight
MAX_KEYS_WITH_NUMBERS = 6  # above that the numbers in the cells become too small to read
PAGE_WIDTH = 10.5  # inches
SIGNED = mpl.colors.LinearSegmentedColormap.from_list("signed", [head_colour(5), "white", head_colour(0)])


def as_weights(given) -> torch.Tensor:
    """Numbers of any kind, as a tensor to draw."""
    try:
        weights = torch.as_tensor(given).detach().cpu().float()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(
            f"어텐션 가중치는 텐서나 숫자 배열이어야 합니다. 받은 값: {type(given).__name__}. "
            "층이나 헤드마다 나뉘어 있으면 하나를 고르거나 torch.stack으로 묶으십시오."
        ) from None
    if not weights.numel():
        raise ValueError(f"가중치가 하나도 없습니다. 받은 모양: {tuple(weights.shape)}")
    return weights


def as_names(tokens) -> list[str]:
    """The names of the tokens; refuses their numbers, and a text that is not cut yet."""
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise ValueError(f"토큰의 이름을 목록으로 넣으십시오. 예: 글.split(), tokenizer.tokenize(글). 받은 값: {tokens!r}")
    names = list(tokens)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"토큰의 이름이 필요한데 {type(name).__name__}을(를) 받았습니다. "
                "번호라면 tokenizer.convert_ids_to_tokens(번호 목록)로 이름을 얻고, 글이 여럿이면 하나를 고르십시오."
            )
    if not names:
        raise ValueError("토큰이 하나도 없습니다. 토큰이 하나 이상인 글을 넣으십시오.")
    return [normalize_text(name) for name in names]


def as_numbers(given, allowed: range, what: str) -> list[int]:
    """The numbers of layers or heads to draw."""
    try:
        numbers = [operator.index(number) for number in given]
    except TypeError:
        numbers = []
    if not numbers or not set(numbers) <= set(allowed):
        raise ValueError(
            f"{what} 번호는 {allowed[0]}부터 {allowed[-1]}까지이고 목록으로 넣습니다. 예: [{allowed[0]}]. 받은 값: {given!r}"
        )
    return numbers


def check_weights(weights: torch.Tensor) -> None:
    """Raises unless every row is a distribution over the keys, or all zero because it was fully masked."""
    sums = weights.sum(-1)
    bad = ~(((sums - 1).abs() <= ROW_SUM_TOLERANCE) | (weights == 0).all(-1))  # NaN is bad too
    if bad.any():
        worst = sums[bad][0].item()
        raise ValueError(
            f"어텐션 가중치는 행마다 합이 1이어야 하는데 합이 {worst:.3f}인 행이 있습니다. "
            "점수가 아니라 소프트맥스를 거친 가중치인지, 드롭아웃을 거치지 않았는지(model.eval()) 확인하십시오."
        )
    if (weights < 0).any():
        raise ValueError(f"어텐션 가중치는 0 이상이어야 하는데 {weights.min().item():.3f}이 있습니다.")


def literal(text: str) -> str:
    """Text that matplotlib draws as it stands: between two dollar signs it would read a formula."""
    return drawable(text).replace("$", r"\$")


def attention_maps(
    weights: torch.Tensor,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    heads: Sequence[int] | None = None,
    layer: int | None = None,
    columns: int | None = None,
    title: str | None = None,
    titles: Sequence[str] | None = None,
) -> Figure:
    """One small heatmap for each head, all on one scale from 0 to 1. Rows are queries, columns are keys.

    weights      (h, T, S), or (1, h, T, S) as a module returns it for a batch of one
    tokens       T names of the queries; ``key_tokens`` names the S keys where they differ (cross attention)
    heads        heads to show; all by default. They count from 0, as in the tensor, and with ``layer`` from 1, as in
                 the name "head 6-12" of a BERT's head.
    layer        number of the layer, counted from 1, for the titles
    columns      maps in a row; by default as many as fit on a page, at most 4
    title        heading of the whole figure
    titles       one name a map shown, in place of "헤드 0" and so on. The frames are grey then, because a frame in
                 colour stands for the head of that number, and maps with names of their own may come from anywhere.

    In a notebook let the call be the last line of a cell, without a semicolon: the figure is the value of the cell.
    """
    weights = as_weights(weights)
    if weights.ndim == 4 and len(weights) == 1:
        weights = weights[0]
    tokens = as_names(tokens)
    key_tokens = tokens if key_tokens is None else as_names(key_tokens)
    check_shape(weights, tokens, key_tokens)
    check_weights(weights)
    num_heads = len(weights)
    first = 0 if layer is None else 1
    numbers = range(first, first + num_heads)
    heads = list(numbers) if heads is None else as_numbers(heads, numbers, "헤드")

    if titles is not None and len(titles) != len(heads):
        raise ValueError(f"지도 {len(heads)}장에 제목 {len(titles)}개를 받았습니다. 한 장에 하나씩 넣으십시오.")

    if titles is None:
        names = [f"헤드 {head}" if layer is None else f"층 {layer} · 헤드 {head}" for head in heads]
        colours = [head_colour(head - first) for head in heads]
    else:
        names, colours = titles, ["#6b6b6b"] * len(heads)
    with mpl.rc_context({"font.family": korean_family(), "font.size": 9}):
        return _draw([weights[head - first] for head in heads], names, colours, tokens, key_tokens, columns, title)


def check_shape(weights: torch.Tensor, tokens: Sequence[str], key_tokens: Sequence[str]) -> None:
    shape = tuple(weights.shape)
    if weights.ndim != 3:
        raise ValueError(
            f"가중치의 모양은 (헤드, 쿼리, 키)여야 하는데 {shape}입니다. "
            "nn.MultiheadAttention이라면 average_attn_weights=False로 헤드마다의 가중치를 받으십시오."
        )
    if shape[1:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"가중치의 모양 {shape}과 토큰 수가 맞지 않습니다: 쿼리 토큰 {len(tokens)}개, 키 토큰 {len(key_tokens)}개."
        )


def _draw(maps, names, colours, tokens, key_tokens, columns, title) -> Figure:
    num_queries, num_keys = len(tokens), len(key_tokens)
    with_numbers = num_keys <= MAX_KEYS_WITH_NUMBERS
    # Sizes in inches. Cells with numbers grow until the names of the keys fit below them, within reason.
    widest_key = 0.08 * max(map(text_columns, key_tokens)) + 0.05
    cell = min(max(0.42, widest_key), 0.8) if with_numbers else 0.16 if num_keys <= 20 else 0.11
    cell = max(cell, 1.4 / max(num_queries, num_keys))  # room for the title
    columns = columns or max(1, min(4, int(PAGE_WIDTH / (num_keys * cell + 0.15))))
    columns = min(columns, len(maps))
    rows = math.ceil(len(maps) / columns)
    upright = widest_key <= cell
    left, below = 0.08 * max(map(text_columns, tokens)), 0.2 if upright else widest_key  # of all maps
    size = (
        left + columns * (num_keys * cell + 0.15) + 0.9,
        below + rows * (num_queries * cell + 0.35) + 0.1 + (0.35 if title else 0),
    )
    figure = Figure(figsize=size, facecolor="white", layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    scale = mpl.cm.ScalarMappable(norm=mpl.colors.Normalize(0, 1), cmap="Blues")

    for place, axes in enumerate(panels.flat):
        if place >= len(maps):
            axes.set_axis_off()
            continue
        axes.imshow(maps[place].numpy(), norm=scale.norm, cmap=scale.cmap, aspect="equal")
        axes.set(xticks=[], yticks=[])
        first_in_row, last_in_column = place % columns == 0, place + columns >= len(maps)
        if first_in_row:
            axes.set_yticks(range(num_queries), map(literal, tokens))
        if last_in_column:
            axes.set_xticks(range(num_keys), map(literal, key_tokens), rotation=0 if upright else 90)
        axes.tick_params(length=0, labelsize=min(9, 65 * cell), colors="black")
        axes.set_title(literal(names[place]), fontsize=10, fontweight="bold", color="black")
        for spine in axes.spines.values():
            spine.set(color=colours[place], linewidth=2.5)
        if with_numbers:
            _write_numbers(axes, maps[place], scale)

    if title:
        figure.suptitle(literal(title), fontsize=12, fontweight="bold")
    figure.colorbar(scale, ax=figure.axes, label="가중치", shrink=0.6, aspect=25, pad=0.02)
    return figure


def _write_numbers(axes, weights, scale) -> None:
    for query, row in enumerate(weights.tolist()):
        for key, weight in enumerate(row):
            ink = _ink(scale.to_rgba(weight))
            axes.text(key, query, f"{weight:.2f}", ha="center", va="center", color=ink)


def text_columns(text: str) -> int:
    """Columns that a text takes: Hangul is twice as wide as Latin."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def all_maps(weights: torch.Tensor, layers: Sequence[int]) -> Figure:
    """The maps of all heads (layers, h, T, S) on one sheet, without names: a row a layer, a column a head."""
    num_layers, num_heads, T, S = weights.shape
    gap = 1 + max(T, S) // 24
    sheet = torch.full((num_layers * (T + gap) - gap, num_heads * (S + gap) - gap), torch.nan)
    for i, maps in enumerate(weights):
        for j, one in enumerate(maps):
            sheet[i * (T + gap) :, j * (S + gap) :][:T, :S] = one
    with _style():
        width = 0.55 * num_heads + 0.5
        height = 0.55 * num_layers * T / S + 0.5
        figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
        axes = figure.subplots()
        blues = mpl.colormaps["Blues"].resampled(16).with_extremes(bad="#c9ced4")
        axes.imshow(sheet.numpy(), vmin=0, vmax=1, cmap=blues, interpolation="nearest")
        axes.set_xticks([j * (S + gap) + (S - 1) / 2 for j in range(num_heads)], range(1, num_heads + 1))
        axes.set_yticks([i * (T + gap) + (T - 1) / 2 for i in range(num_layers)], layers)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set(xlabel="헤드", ylabel="층")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        return figure


def dot_products(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, tokens: Sequence[str], query: int
) -> Figure:
    """How one query (d_k) meets the keys (T, d_k): k, q × k by element, their sum / √d_k, and the weights (T)."""
    T, d_k = k.shape
    products = q * k
    scores = products.sum(-1) / d_k**0.5
    with _style():
        figure = Figure(figsize=(7.6, 0.21 * T + 1.1), facecolor="white", layout="constrained")
        panels = figure.subplots(
            2, 4, width_ratios=[3, 3, 1, 1], height_ratios=[1, T], sharey="row", gridspec_kw={"hspace": 0}
        )
        for axes in panels[0, 1:]:
            axes.set_axis_off()
        for axes, numbers, title in (
            (panels[0, 0], q[None], f"쿼리 q: {literal(tokens[query])}"),
            (panels[1, 0], k, "키 k"),
            (panels[1, 1], products, "q × k"),
        ):
            limit = products.abs().max() if numbers is products else max(q.abs().max(), k.abs().max())
            axes.imshow(numbers.numpy(), cmap=SIGNED, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
            axes.set_title(title, fontsize=10)
        for axes, numbers, title in ((panels[1, 2], scores, "점수"), (panels[1, 3], weights, "가중치")):
            axes.barh(range(T), numbers.tolist(), color=head_colour(0), height=0.7)
            axes.axvline(0, color="#9aa0a6", linewidth=0.8)
            axes.set_title(title, fontsize=10)
            axes.tick_params(axis="x", labelsize=8)
        panels[1, 3].set_xlim(0, 1)
        panels[0, 0].set_yticks([])
        panels[1, 0].set_yticks(range(T), map(literal, tokens))
        for axes in panels.flat:
            axes.tick_params(axis="y", length=0)
            axes.spines[["top", "right", "left"]].set_visible(False)
        for axes in panels[:, :2].flat:
            axes.set_xticks([])
        return figure


# -- masks, costs and times ------------------------------------------------------------------------------------------


def mask_pictures(masks: dict[str, torch.Tensor]) -> Figure:
    """One square a mask (T, S), side by side: filled where the query (row) may attend to the key (column)."""
    with _style():
        figure = Figure(figsize=(2.4 * len(masks), 2.6), facecolor="white", layout="constrained")
        for axes, (name, mask) in zip(figure.subplots(1, len(masks), squeeze=False)[0], masks.items()):
            axes.pcolormesh(mask.int().numpy(), cmap="Blues", vmin=0, vmax=1.4, edgecolors="#9aa0a6", linewidth=0.6)
            axes.invert_yaxis()
            axes.set(aspect="equal", xticks=[], yticks=[], xlabel="키", ylabel="쿼리")
            axes.set_title(name, fontsize=10, fontweight="bold")
        return figure


def cost_by_length(d_model: int, num_heads: int, longest: int) -> Figure:
    """FLOPs of one layer for sentences of up to ``longest`` tokens: projections against scores and weighted sum."""
    lengths = [*range(0, longest + 1, max(1, longest // 64))]
    flops = [attention_flops(d_model, num_heads, T) for T in lengths]
    lines = {
        "투영 네 번": [f["projections"] / 1e9 for f in flops],
        "점수와 가중합": [(f["scores"] + f["weighted_sum"]) / 1e9 for f in flops],
    }
    figure = _line_chart(dict.fromkeys(lines, lengths), lines, "토큰 수 T", "GFLOP")
    axes = figure.axes[0]
    axes.axvline(2 * d_model, color="#5f6368", linestyle=":", linewidth=1.2)
    axes.annotate(f"T = 2D = {2 * d_model:,}", (2 * d_model, axes.get_ylim()[1] * 0.95), xytext=(-6, 0),
                  textcoords="offset points", ha="right", va="top")  # fmt: skip
    return figure


def time_ratios(series: dict[str, dict[int, float]], xlabel: str) -> Figure:
    """Lines of {name: {x: time as a multiple of some baseline}}, x in powers of two."""
    figure = _line_chart(
        {name: list(ratios) for name, ratios in series.items()},
        {name: list(ratios.values()) for name, ratios in series.items()},
        xlabel,
        "시간 (배)",
        marker="o",
    )
    axes = figure.axes[0]
    axes.set_xscale("log", base=2)
    ticks = sorted({x for ratios in series.values() for x in ratios})
    axes.set_xticks(ticks, [f"{x:,}" for x in ticks], minor=False)
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    return figure


def speedups(speeds: dict[str, float], limits: dict[str, float]) -> Figure:
    """Horizontal bars of how many times faster than the baseline; a dotted line marks the limit of a bar that has one."""
    with _style():
        figure = Figure(figsize=(7.2, 0.45 * len(speeds) + 1.2), facecolor="white", layout="constrained")
        axes = figure.subplots()
        axes.barh(list(speeds), list(speeds.values()), color=head_colour(0), height=0.6)
        for place, (name, speed) in enumerate(speeds.items()):
            axes.text(1.02, place, f"{speed:.2g}", transform=axes.get_yaxis_transform(), va="center")
            if name in limits:
                axes.plot([limits[name]] * 2, [place - 0.42, place + 0.42], ":", color=head_colour(5), linewidth=2.5)
        axes.plot([], [], ":", color=head_colour(5), linewidth=2.5, label="이론의 한계")
        axes.set_xscale("log", base=2)
        axes.set_xlim(min(0.25, *speeds.values()) / 1.5, 1.5 * max(*limits.values(), *speeds.values()))
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        axes.minorticks_off()
        axes.invert_yaxis()
        axes.set_xlabel("속도 (MHA = 1)")
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
        _only_left_and_bottom(axes)
        return figure


def bars(values: dict[str, float], xlabel: str, colours: Sequence[str] | None = None) -> Figure:
    """Horizontal bars with their values, one a name, in order from top to bottom."""
    with _style():
        figure = Figure(figsize=(7.2, 0.36 * len(values) + 0.8), facecolor="white", layout="constrained")
        axes = figure.subplots()
        drawn = axes.barh(list(values), list(values.values()), color=colours or head_colour(0), height=0.7)
        axes.bar_label(drawn, [f"{value:,.3g}" for value in values.values()], padding=4)
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.set_xlabel(xlabel)
        _only_left_and_bottom(axes)
        return figure


def accuracy_by_step(curves: dict[str, dict[int, float]]) -> Figure:
    """Lines of {name: {training step: share of right answers}}, at most four."""
    steps = {name: list(curve) for name, curve in curves.items()}
    shares = {name: list(curve.values()) for name, curve in curves.items()}
    figure = _line_chart(steps, shares, "학습 걸음", "정답률")
    figure.axes[0].set_ylim(-0.03, 1.03)
    figure.axes[0].xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    return figure


def kv_sharing(num_heads: int, num_kv_heads: Sequence[int]) -> Figure:
    """Which query head reads which KV head, one panel for each number g of KV heads. Colours follow the KV head."""
    with _style():
        figure = Figure(figsize=(3.4 * len(num_kv_heads), 2.4), facecolor="white", layout="constrained")
        for axes, g in zip(figure.subplots(1, len(num_kv_heads), squeeze=False)[0], num_kv_heads):
            group = num_heads // g
            for head in range(num_heads):
                kv_head = head // group
                colour = head_colour(kv_head)
                kv_place = kv_head * group + (group - 1) / 2
                axes.plot([head, kv_place], [1, 0], color=colour, linewidth=1.5, zorder=1)
                axes.text(head, 1, str(head), **_badge(colour, "circle"))
                axes.text(kv_place, 0, str(kv_head), **_badge(colour, "round"))
            axes.set(xlim=(-0.6, num_heads - 0.4), ylim=(-0.35, 1.35), xticks=[], yticks=[0, 1])
            axes.set_yticklabels(["K, V", "Q"])
            kind = {num_heads: "MHA", 1: "MQA"}.get(g, "GQA")
            axes.set_title(f"{kind} (h = {num_heads}, g = {g})", fontsize=10, fontweight="bold")
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)
        return figure


# -- the two-neighbours experiment ----------------------------------------------------------------------------------


def learning_curves(recordings: dict[str, Sequence[Recording]]) -> Figure:
    """Share of positions with both answers right while training: {name: one recording a seed}, one line a name.

    The line is the mean over the seeds, the band reaches from the lowest to the highest seed.
    """
    steps = {name: runs[0].steps for name, runs in recordings.items()}
    both = {name: torch.tensor([[a.both for a in run.accuracy] for run in runs]) for name, runs in recordings.items()}
    means = {name: values.mean(0).tolist() for name, values in both.items()}
    figure = _line_chart(steps, means, "학습 걸음", "두 답이 모두 맞은 자리")
    axes = figure.axes[0]
    for line, (name, values) in zip(axes.lines, both.items()):
        low, high = values.min(0).values, values.max(0).values
        axes.fill_between(steps[name], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set_ylim(-0.02, 1.02)
    return figure


def neighbour_roles(shares: dict[str, torch.Tensor]) -> Figure:
    """Where heads look: {name: (heads, 2) shares of the left and of the right neighbour}, one panel a name.

    A head in the lower right corner looks left only, one in the upper left corner right only.
    """
    with _style():
        figure = Figure(figsize=(2.5 * len(shares) + 0.5, 3.2), facecolor="white", layout="compressed")
        panels = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
        for axes, (name, points) in zip(panels, shares.items()):
            axes.plot([0, 1], [1, 0], ":", color="#5f6368", linewidth=1.2)  # all weight on the two neighbours
            axes.scatter(*points.T.tolist(), s=46, color=head_colour(0), alpha=0.55, edgecolors="black", zorder=2)
            axes.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect="equal", xlabel="왼쪽 이웃")
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_title(name, fontsize=10, fontweight="bold")
            _only_left_and_bottom(axes)
        panels[0].set_ylabel("오른쪽 이웃")
        return figure


# -- all heads of a model --------------------------------------------------------------------------------------------


def score_grids(scores: dict[str, torch.Tensor], marked: dict[str, Sequence[int]] | None = None) -> Figure:
    """One grid (layers, h) a score from 0 to 1, two side by side, with the number of the best head written into it.

    marked    heads whose whole column is framed, for each score
    """
    num_layers, num_heads = next(iter(scores.values())).shape
    rows = math.ceil(len(scores) / 2)
    with _style():
        size = (8.0, rows * (0.8 + 0.22 * num_layers))
        figure = Figure(figsize=size, facecolor="white", layout="constrained")
        panels = list(figure.subplots(rows, 2, squeeze=False).flat)
        for axes, (name, score) in zip(panels, scores.items()):
            image = axes.imshow(score.numpy(), vmin=0, vmax=1, cmap="Blues", aspect="auto")
            layer, head = divmod(score.argmax().item(), num_heads)
            ink = _ink(image.to_rgba(score[layer, head].item()))
            axes.text(head, layer, f"{score[layer, head]:.2f}", color=ink, fontsize=7, ha="center", va="center")
            for column in (marked or {}).get(name, ()):
                axes.axvspan(column - 1.5, column - 0.5, fill=False, edgecolor=head_colour(5), linewidth=2)
            axes.set_xticks(range(num_heads), range(1, num_heads + 1))
            axes.set_yticks(range(num_layers), range(1, num_layers + 1))
            axes.tick_params(length=0, labelsize=8)
            axes.set(xlabel="헤드", ylabel="층")
            axes.set_title(name, fontsize=10, fontweight="bold")
        for axes in panels[len(scores) :]:
            axes.set_axis_off()
        figure.colorbar(image, ax=figure.axes, shrink=0.6, aspect=25, pad=0.02)
        return figure


def similarity_without_heads(series: dict[str, dict[int, float]]) -> Figure:
    """Lines of {order of removal: {number of heads removed: similarity of the output to that of the whole model}}."""
    numbers = {name: list(points) for name, points in series.items()}
    similarities = {name: list(points.values()) for name, points in series.items()}
    return _line_chart(numbers, similarities, "끈 헤드의 수", "온전한 출력과의 코사인 유사도", marker="o")


def _style():
    return mpl.rc_context({"font.family": korean_family(), "font.size": 10})


def _line_chart(x: dict[str, list], y: dict[str, list], xlabel: str, ylabel: str, **options) -> Figure:
    with _style():
        figure = Figure(figsize=(7.2, 3.4), facecolor="white", layout="constrained")
        axes = figure.subplots()
        for number, (name, style) in enumerate(zip(y, ("-", "--", "-.", ":"))):
            colour = head_colour((0, 5, 2, 7)[number])
            axes.plot(x[name], y[name], style, color=colour, linewidth=2, label=name, **options)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.legend(frameon=False)
        axes.grid(color="#e3e5e8", linewidth=0.8)
        _only_left_and_bottom(axes)
        return figure


def _only_left_and_bottom(axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _badge(colour: str, shape: str) -> dict:
    box = {"boxstyle": f"{shape},pad=0.3", "facecolor": colour, "edgecolor": "none"}
    text = {"color": _ink(colour), "fontsize": 9, "fontweight": "bold", "ha": "center", "va": "center"}
    return text | {"bbox": box, "zorder": 2}


def _ink(background) -> str:
    """Black or white, whichever reads better on this colour (WCAG: white wins below a luminance of 0.18)."""
    red, green, blue = mpl.colors.to_rgb(background)
    return "white" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.18 else "black"
