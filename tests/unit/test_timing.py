import time

from multihead.timing import interleaved_medians


def test_calls_take_turns_and_the_first_turn_is_not_counted():
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "ab"}
    assert set(interleaved_medians(calls, rounds=3)) == {"a", "b"}
    assert order == list("abababab")


def test_the_median_is_that_of_the_counted_turns():
    naps = iter([0.2, 0.001, 0.02, 0.02, 0.02, 0.2])  # the first is the warm-up, one outlier each side
    assert 0.02 <= interleaved_medians({"nap": lambda: time.sleep(next(naps))}, rounds=5)["nap"] < 0.15
