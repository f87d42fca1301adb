"""Costs, times, roles and training runs as charts: plain matplotlib figures, to show, save or change."""

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure

from ..counting import attention_flops
from ..models.neighbours import Recording
from .palette import head_colour
from .style import badge, figure_style, only_left_and_bottom


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
    with figure_style():
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
        only_left_and_bottom(axes)
        return figure


def bars(values: dict[str, float], xlabel: str, colours: Sequence[str] | None = None) -> Figure:
    """Horizontal bars with their values, one a name, in order from top to bottom."""
    with figure_style():
        figure = Figure(figsize=(7.2, 0.36 * len(values) + 0.8), facecolor="white", layout="constrained")
        axes = figure.subplots()
        drawn = axes.barh(list(values), list(values.values()), color=colours or head_colour(0), height=0.7)
        axes.bar_label(drawn, [f"{value:,.3g}" for value in values.values()], padding=4)
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.set_xlabel(xlabel)
        only_left_and_bottom(axes)
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
    with figure_style():
        figure = Figure(figsize=(3.4 * len(num_kv_heads), 2.4), facecolor="white", layout="constrained")
        for axes, g in zip(figure.subplots(1, len(num_kv_heads), squeeze=False)[0], num_kv_heads):
            group = num_heads // g
            for head in range(num_heads):
                kv_head = head // group
                colour = head_colour(kv_head)
                kv_place = kv_head * group + (group - 1) / 2
                axes.plot([head, kv_place], [1, 0], color=colour, linewidth=1.5, zorder=1)
                axes.text(head, 1, str(head), **badge(colour, "circle"))
                axes.text(kv_place, 0, str(kv_head), **badge(colour, "round"))
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
    with figure_style():
        figure = Figure(figsize=(2.5 * len(shares) + 0.5, 3.2), facecolor="white", layout="compressed")
        panels = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
        for axes, (name, points) in zip(panels, shares.items()):
            axes.plot([0, 1], [1, 0], ":", color="#5f6368", linewidth=1.2)  # all weight on the two neighbours
            axes.scatter(*points.T.tolist(), s=46, color=head_colour(0), alpha=0.55, edgecolors="black", zorder=2)
            axes.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect="equal", xlabel="왼쪽 이웃")
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_title(name, fontsize=10, fontweight="bold")
            only_left_and_bottom(axes)
        panels[0].set_ylabel("오른쪽 이웃")
        return figure


def similarity_without_heads(series: dict[str, dict[int, float]]) -> Figure:
    """Lines of {order of removal: {number of heads removed: similarity of the output to that of the whole model}}."""
    numbers = {name: list(points) for name, points in series.items()}
    similarities = {name: list(points.values()) for name, points in series.items()}
    return _line_chart(numbers, similarities, "끈 헤드의 수", "온전한 출력과의 코사인 유사도", marker="o")


def _line_chart(x: dict[str, list], y: dict[str, list], xlabel: str, ylabel: str, **options) -> Figure:
    with figure_style():
        figure = Figure(figsize=(7.2, 3.4), facecolor="white", layout="constrained")
        axes = figure.subplots()
        for number, (name, style) in enumerate(zip(y, ("-", "--", "-.", ":"))):
            colour = head_colour((0, 5, 2, 7)[number])
            axes.plot(x[name], y[name], style, color=colour, linewidth=2, label=name, **options)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.legend(frameon=False)
        axes.grid(color="#e3e5e8", linewidth=0.8)
        only_left_and_bottom(axes)
        return figure
