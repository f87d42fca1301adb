"""Graders of the exercises, one file a chapter. Each prints in Korean what is right, or what is wrong and why."""

from .chapter_01 import check_attention, check_causal_mask, check_masked_attention
from .chapter_02 import check_both_right, check_neighbour_share, check_switched_off
from .chapter_03 import check_merge_heads, check_sees_the_future, check_split_heads
from .chapter_04 import check_head_contributions, check_head_matrices, check_multi_head_attention
from .chapter_05 import check_crossing_length, check_largest_batch, check_parameter_count
from .chapter_06 import check_cache_bytes, check_kv_head, check_pool_kv_heads
from .chapter_07 import check_best_distance, check_heads_off, check_masked_loss
from .chapter_08 import check_mean_entropy, check_sink_heads, check_strongest_head
from .chapter_09 import check_best_offset, check_head_accuracy, check_word_map
from .chapter_10 import check_padded_causal_mask, check_sliding_window

__all__ = [
    "check_attention",
    "check_causal_mask",
    "check_masked_attention",
    "check_both_right",
    "check_neighbour_share",
    "check_switched_off",
    "check_merge_heads",
    "check_sees_the_future",
    "check_split_heads",
    "check_head_contributions",
    "check_head_matrices",
    "check_multi_head_attention",
    "check_crossing_length",
    "check_largest_batch",
    "check_parameter_count",
    "check_cache_bytes",
    "check_kv_head",
    "check_pool_kv_heads",
    "check_best_distance",
    "check_heads_off",
    "check_masked_loss",
    "check_mean_entropy",
    "check_sink_heads",
    "check_strongest_head",
    "check_best_offset",
    "check_head_accuracy",
    "check_word_map",
    "check_padded_causal_mask",
    "check_sliding_window",
]
