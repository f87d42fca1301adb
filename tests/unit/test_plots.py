"""Heatmaps of heads: what they show, and what they refuse to show."""

import io

import pytest
import torch
from matplotlib.colors import to_hex, to_rgb

from multihead.models.neighbours import Accuracy, Recording
from multihead.plots import (
    accuracy_by_step,
    all_maps,
    attention_maps,
    bars,
    cost_by_length,
    dot_products,
    kv_sharing,
    learning_curves,
    mask_pictures,
    neighbour_roles,
    score_grids,
    similarity_without_heads,
    speedups,
    time_ratios,
)
from multihead.plots.palette import HEAD_COLOURS, head_colour

H, T, S = 3, 5, 7
TOKENS, KEY_TOKENS = list("가나다라마"), list("abcdefg")


def some_weights(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0)).softmax(-1)


def maps_of(figure):
    """The axes that hold a map, without the colour bar."""
    return [axes for axes in figure.axes if axes.images]


def texts(ticks):
    return [tick.get_text() for tick in ticks]


def test_each_head_has_a_map_with_its_weights_its_number_and_its_colour():
    weights = some_weights(H, T, S)
    maps = maps_of(attention_maps(weights, TOKENS, KEY_TOKENS, layer=6))
    assert len(maps) == H
    for i, axes in enumerate(maps):
        assert torch.equal(torch.as_tensor(axes.images[0].get_array().data), weights[i])
        assert axes.get_title() == f"층 6 · 헤드 {i + 1}"
        assert to_hex(axes.spines["left"].get_edgecolor()).upper() == HEAD_COLOURS[i]


def test_chosen_heads_keep_their_numbers_and_colours():
    maps = maps_of(attention_maps(some_weights(H, T, S), TOKENS, KEY_TOKENS, heads=[2, 0]))
    assert [axes.get_title() for axes in maps] == ["헤드 2", "헤드 0"]
    assert to_hex(maps[0].spines["top"].get_edgecolor()).upper() == HEAD_COLOURS[2]


def test_maps_with_titles_of_their_own_borrow_no_colour_of_a_head():
    maps = maps_of(attention_maps(some_weights(H, T, S), TOKENS, KEY_TOKENS, titles=["앞 1-3", "뒤", "[CLS]"]))
    assert [axes.get_title() for axes in maps] == ["앞 1-3", "뒤", "[CLS]"]
    assert to_hex(maps[0].spines["top"].get_edgecolor()).upper() not in HEAD_COLOURS


def test_all_maps_share_one_scale_from_0_to_1():
    figure = attention_maps(some_weights(H, T, S), TOKENS, KEY_TOKENS)
    assert {axes.images[0].get_clim() for axes in maps_of(figure)} == {(0, 1)}
    assert len(figure.axes) == H + 1  # one colour bar


def test_queries_are_named_at_the_left_and_keys_at_the_bottom():
    maps = maps_of(attention_maps(some_weights(H, T, S), TOKENS, KEY_TOKENS, columns=2))
    assert [texts(axes.get_yticklabels()) == TOKENS for axes in maps] == [True, False, True]
    assert [texts(axes.get_xticklabels()) == KEY_TOKENS for axes in maps] == [False, True, True]


@pytest.mark.parametrize("token", ["$x$", "a$b", r"\alpha", "<img src=x>", "&lt;b>", "_{2}", "🐈", "ᄂ", "##다", ""])
def test_any_token_is_drawn_as_it_stands(token):
    figure = attention_maps(some_weights(1, 2, 2), [token, "끝"], title=token)
    figure.savefig(io.BytesIO())  # a formula would raise, a missing glyph would warn
    shown = maps_of(figure)[0].get_yticklabels()[0].get_text()
    assert shown == token.replace("$", r"\$").replace("🐈", "□")


def test_few_tokens_show_numbers_that_can_be_read():
    weights = torch.tensor([[0.0, 0.35, 0.65], [0.45, 0.55, 0.0], [0.0, 0.0, 1.0]])
    axes = maps_of(attention_maps(weights[None], TOKENS[:3]))[0]
    assert [text.get_text() for text in axes.texts][:3] == ["0.00", "0.35", "0.65"]
    image = axes.images[0]
    for text, weight in zip(axes.texts, weights.flatten().tolist(), strict=True):
        assert contrast(text.get_color(), image.cmap(image.norm(weight))) >= 4.5


def test_many_tokens_show_no_numbers():
    assert not maps_of(attention_maps(some_weights(H, T, S), TOKENS, KEY_TOKENS))[0].texts


def contrast(one, other):
    def luminance(colour):
        channels = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
        return sum(c * part for c, part in zip(channels, (0.2126, 0.7152, 0.0722), strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_come_as_a_module_returns_them(dtype):
    weights = some_weights(1, H, T, T).to(dtype).requires_grad_()
    assert len(maps_of(attention_maps(weights, TOKENS))) == H


def test_a_fully_masked_row_of_zeros_is_shown():
    weights = some_weights(H, T, T)
    weights[:, 2] = 0
    assert attention_maps(weights, TOKENS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (torch.rand(H, T, T) + 1, "합이 1이어야 하는데"),  # not normalised
        (torch.nn.functional.dropout(torch.full((H, T, T), 1 / T), 0.5), "합이 1이어야 하는데.*드롭아웃"),
        (torch.full((H, T, T), float("nan")), "합이 nan"),
        (torch.tensor([2.0, -1.0, 0.0, 0.0, 0.0]).expand(H, T, T), "0 이상이어야 하는데 -1.000"),
        (torch.full((T, T), 1 / T), r"\(5, 5\).*average_attn_weights=False"),  # the mean over heads
        (torch.full((2, H, T, T), 1 / T), r"\(2, 3, 5, 5\)"),
        (torch.full((H, T, S), 1 / S), r"\(3, 5, 7\).*쿼리 토큰 5개, 키 토큰 5개"),
    ],
)
def test_what_is_not_attention_is_refused_with_its_numbers(weights, message):
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=message):
        attention_maps(weights, TOKENS)


@pytest.mark.parametrize(("heads", "layer"), [([3], None), ([-1], None), ([0], 6), ([4], 6), ([], None)])
def test_heads_count_from_0_and_with_a_layer_from_1(heads, layer):
    with pytest.raises(ValueError, match="[01]부터 [23]까지"):
        attention_maps(some_weights(H, T, T), TOKENS, heads=heads, layer=layer)


def test_a_title_too_few_is_refused():
    with pytest.raises(ValueError, match="지도 3장에 제목 2개"):
        attention_maps(some_weights(H, T, T), TOKENS, titles=["하나", "둘"])


# -- masks, costs and times ------------------------------------------------------------------------------------------


def test_mask_pictures_fill_what_may_be_attended_to_with_the_first_query_on_top():
    mask = torch.tensor([[True, False, False], [True, True, False]])
    axes = mask_pictures({"인과": mask}).axes[0]
    assert axes.collections[0].get_array().tolist() == mask.int().tolist()
    assert axes.yaxis_inverted() and axes.get_title() == "인과"


def test_cost_lines_cross_where_the_formula_says():
    axes = cost_by_length(d_model=64, num_heads=4, longest=256).axes[0]
    projections, quadratic = (dict(zip(*line.get_data())) for line in axes.lines[:2])
    assert projections[128] == quadratic[128]  # T = 2 D
    assert projections[64] > quadratic[64] and projections[256] < quadratic[256]


def test_time_ratios_draw_every_given_value():
    axes = time_ratios({"가": {1: 1.0, 4: 2.0}, "나": {1: 0.5, 4: 0.7}}, "헤드 수").axes[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[1.0, 2.0], [0.5, 0.7]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["가", "나"]


def test_speedups_mark_the_limit_of_each_bar_that_has_one():
    axes = speedups({"MHA": 1.0, "GQA": 2.9}, {"GQA": 4}).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [1.0, 2.9]
    (limit,) = [line for line in axes.lines if len(line.get_xdata())]
    assert list(limit.get_xdata()) == [4, 4] and list(limit.get_ydata()) == pytest.approx([0.58, 1.42])


def test_bars_are_named_and_labelled_from_top_to_bottom():
    axes = bars({"헤드 1": 1.5, "헤드 2": 1234.0}, "크기").axes[0]
    assert [bar.get_width() for bar in axes.patches] == [1.5, 1234.0] and axes.yaxis_inverted()
    assert [text.get_text() for text in axes.texts] == ["1.5", "1.23e+03"]


def test_kv_sharing_joins_query_head_i_to_kv_head_i_divided_by_group_size():
    mha, gqa, mqa = kv_sharing(8, (8, 2, 1)).axes
    for axes, group in ((mha, 1), (gqa, 4), (mqa, 8)):
        ends = [tuple(line.get_xdata()) for line in axes.lines]
        assert ends == [(i, i // group * group + (group - 1) / 2) for i in range(8)]
        assert [line.get_color() for line in axes.lines] == [head_colour(i // group) for i in range(8)]


def a_run(h, both):
    n = len(both)
    return Recording(
        num_heads=h, tokens=torch.arange(16), steps=list(range(n)), maps=some_weights(n, h, 16, 16),
        shares=torch.rand(n, h, 2), accuracy=[Accuracy(1, 1, share) for share in both], losses=torch.ones(n),
    )  # fmt: skip


def test_learning_curves_show_the_mean_of_the_seeds_and_their_spread():
    two_seeds = [a_run(2, [0, 0.4, 1]), a_run(2, [0, 0.8, 1])]
    figure = learning_curves({"h = 1": [a_run(1, [0, 0.1, 0.2])], "h = 2": two_seeds})
    [axes] = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["h = 1", "h = 2"]
    assert list(axes.lines[1].get_ydata()) == pytest.approx([0, 0.6, 1])
    heights = [path.vertices[:, 1] for path in axes.collections[1].get_paths()][0]
    assert heights.max() == 1 and {0.4, 0.8} <= {round(float(height), 2) for height in heights}


def test_every_head_is_a_point_between_left_and_right():
    figure = neighbour_roles({"h = 1": torch.tensor([[0.5, 0.4]]), "h = 2": torch.tensor([[1.0, 0.0], [0.1, 0.9]])})
    points = [axes.collections[0].get_offsets().tolist() for axes in figure.axes]
    assert points[0] == [pytest.approx([0.5, 0.4])] and points[1] == [pytest.approx([1, 0]), pytest.approx([0.1, 0.9])]
    assert [axes.get_title() for axes in figure.axes] == ["h = 1", "h = 2"]


# -- all heads of a model --------------------------------------------------------------------------------------------


def test_score_grids_show_every_head_and_the_number_of_the_best():
    first, second = torch.rand(2, 3, 5, generator=torch.Generator().manual_seed(0))
    panels = maps_of(score_grids({"가": first, "나": second, "다": first}))
    assert len(panels) == 3
    for axes, name, score in zip(panels, "가나다", (first, second, first)):
        assert axes.get_title() == name and torch.equal(torch.as_tensor(axes.images[0].get_array().data), score)
        (best,) = axes.texts
        layer, head = divmod(score.argmax().item(), 5)
        assert best.get_text() == f"{score.max():.2f}" and best.get_position() == (head, layer)
        assert texts(axes.get_xticklabels()) == list("12345") and texts(axes.get_yticklabels()) == list("123")


def test_score_grids_frame_the_claimed_heads_of_a_score_only():
    grid = torch.rand(3, 5)
    claimed, free = maps_of(score_grids({"가": grid, "나": grid}, marked={"가": [1, 4]}))
    assert [(frame.get_x(), frame.get_width()) for frame in claimed.patches] == [(-0.5, 1), (2.5, 1)]
    assert not free.patches


def test_similarity_lines_hold_the_given_values():
    axes = similarity_without_heads({"가": {1: 0.9, 4: 0.5}, "나": {1: 0.8, 4: 0.1}}).axes[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[0.9, 0.5], [0.8, 0.1]]


def test_the_sheet_of_all_maps_has_each_head_in_its_row_and_column():
    weights = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)
    axes = all_maps(weights, [2, 6]).axes[0]
    sheet = torch.tensor(axes.images[0].get_array().filled(-1))
    assert torch.allclose(sheet[5:9, 6:11], weights[1, 1].to(sheet.dtype))
    assert torch.equal((sheet < 0).sum(), torch.tensor(9 * 17 - 2 * 3 * 20))  # the lines between them
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2", "6"]


def test_the_scores_and_weights_beside_the_products_are_those_of_the_query():
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(8, generator=generator), torch.randn(5, 8, generator=generator)
    weights = (k @ q / 8**0.5).softmax(-1)
    *_, scores, shown = dot_products(q, k, weights, list("가나다라마"), query=2).axes
    assert [bar.get_width() for bar in scores.patches] == pytest.approx((k @ q / 8**0.5).tolist())
    assert [bar.get_width() for bar in shown.patches] == pytest.approx(weights.tolist())


def test_accuracy_by_step_shows_each_run_with_its_name_from_0_to_1():
    axes = accuracy_by_step({f"h = {h}": {0: 0.0, 1000: h / 8} for h in (1, 2, 4, 8)}).axes[0]
    assert [line.get_ydata()[-1] for line in axes.lines] == [1 / 8, 1 / 4, 1 / 2, 1]
    assert texts(axes.get_legend().get_texts()) == ["h = 1", "h = 2", "h = 4", "h = 8"]
    assert len({(line.get_linestyle(), line.get_color()) for line in axes.lines}) == 4
    assert axes.get_ylim()[0] <= 0 and axes.get_ylim()[1] >= 1 and list(axes.lines[0].get_xdata()) == [0, 1000]
