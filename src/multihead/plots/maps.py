"""Static figures of weights, masks, costs, times and training runs: plain matplotlib figures, to show, save or change.

A notebook draws them once ``multihead.notebook.setup()`` has told it how.
"""

import math
from collections.abc import Sequence

import matplotlib as mpl
import torch
from matplotlib.figure import Figure

from ..heads.weights import as_names, as_numbers, as_weights, check_shape, check_weights
from .fonts import korean_family
from .palette import head_colour
from .style import PAGE_WIDTH, SIGNED, figure_style, ink_on, literal, text_columns

MAX_KEYS_WITH_NUMBERS = 6  # above that the numbers in the cells become too small to read


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
            ink = ink_on(scale.to_rgba(weight))
            axes.text(key, query, f"{weight:.2f}", ha="center", va="center", color=ink)


def all_maps(weights: torch.Tensor, layers: Sequence[int]) -> Figure:
    """The maps of all heads (layers, h, T, S) on one sheet, without names: a row a layer, a column a head."""
    num_layers, num_heads, T, S = weights.shape
    gap = 1 + max(T, S) // 24
    sheet = torch.full((num_layers * (T + gap) - gap, num_heads * (S + gap) - gap), torch.nan)
    for i, maps in enumerate(weights):
        for j, one in enumerate(maps):
            sheet[i * (T + gap) :, j * (S + gap) :][:T, :S] = one
    with figure_style():
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
    with figure_style():
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
    with figure_style():
        figure = Figure(figsize=(2.4 * len(masks), 2.6), facecolor="white", layout="constrained")
        for axes, (name, mask) in zip(figure.subplots(1, len(masks), squeeze=False)[0], masks.items()):
            axes.pcolormesh(mask.int().numpy(), cmap="Blues", vmin=0, vmax=1.4, edgecolors="#9aa0a6", linewidth=0.6)
            axes.invert_yaxis()
            axes.set(aspect="equal", xticks=[], yticks=[], xlabel="키", ylabel="쿼리")
            axes.set_title(name, fontsize=10, fontweight="bold")
        return figure


# -- all heads of a model --------------------------------------------------------------------------------------------


def score_grids(scores: dict[str, torch.Tensor], marked: dict[str, Sequence[int]] | None = None) -> Figure:
    """One grid (layers, h) a score from 0 to 1, two side by side, with the number of the best head written into it.

    marked    heads whose whole column is framed, for each score
    """
    num_layers, num_heads = next(iter(scores.values())).shape
    rows = math.ceil(len(scores) / 2)
    with figure_style():
        size = (8.0, rows * (0.8 + 0.22 * num_layers))
        figure = Figure(figsize=size, facecolor="white", layout="constrained")
        panels = list(figure.subplots(rows, 2, squeeze=False).flat)
        for axes, (name, score) in zip(panels, scores.items()):
            image = axes.imshow(score.numpy(), vmin=0, vmax=1, cmap="Blues", aspect="auto")
            layer, head = divmod(score.argmax().item(), num_heads)
            ink = ink_on(image.to_rgba(score[layer, head].item()))
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
