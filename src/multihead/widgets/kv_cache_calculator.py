"""KVCacheCalculator: how large the key-value cache of a model grows, against the memory of common GPUs."""

from dataclasses import asdict

import traitlets

from multihead.counting import PUBLISHED_MODELS
from multihead.widgets.base import Choice, IntRange, Widget, join_module

# What the vendor prints and the MiB that nvidia-smi reports, which is what a program can count on. (The vendor's GB is
# neither exactly 10⁹ nor exactly 2³⁰ bytes.)
GPUS = (
    ("RTX 4090 24 GB", 24_564),
    ("A100 40 GB", 40_960),
    ("A100 80 GB", 81_920),
    ("H100 80 GB", 81_559),
    ("H200 141 GB", 143_771),
)

# The widget's name of a size, and the model's.
_SIZES = {"layers": "layers", "h": "num_heads", "g": "num_kv_heads", "d_k": "d_k"}


def _sizes(name: str) -> dict[str, int]:
    model = next(model for model in PUBLISHED_MODELS if model.name == name)
    return {ours: getattr(model, theirs) for ours, theirs in _SIZES.items()}


class KVCacheCalculator(Widget):
    """KV 캐시의 크기를 계산하고, GPU 메모리와 견주고, MHA·GQA·MQA를 나란히 보여 줍니다.

    model    공개된 모델의 이름. 고르면 layers, h, g, d_k가 그 모델의 값이 되고, 그 가운데 하나를 바꾸면 다시 ""가 됩니다.
    layers   층 수 (1~128)
    h        헤드 수 (1~128)
    g        KV 헤드 수 (1~128). h가 g로 나누어떨어지지 않으면 위젯이 그 까닭을 설명합니다.
    d_k      헤드 하나의 차원 (1~256)
    T        토큰 수 (1~1048576). 슬라이딩 윈도를 쓰는 모델의 캐시는 그 폭에서 더 커지지 않습니다.
             모델이 읽을 수 있는 길이를 넘으면 위젯이 그렇다고 알려 줍니다.
    batch    한꺼번에 다루는 시퀀스 수 (1~256)
    dtype    "float32"(4바이트), "bfloat16"(2바이트, float16도 같습니다), "int8"(1바이트)
    """

    _esm = join_module("kv_cache_calculator.js")

    model = Choice("Llama-3-8B", ("", *(model.name for model in PUBLISHED_MODELS)))
    layers = IntRange(32, 1, 128)
    h = IntRange(32, 1, 128)
    g = IntRange(8, 1, 128)
    d_k = IntRange(128, 1, 256)
    T = IntRange(8192, 1, 1_048_576)
    batch = IntRange(1, 1, 256)
    dtype = Choice("bfloat16", ("float32", "bfloat16", "int8"))

    _models = traitlets.List([asdict(model) for model in PUBLISHED_MODELS]).tag(sync=True)
    _gpus = traitlets.List([{"name": name, "mib": mib} for name, mib in GPUS]).tag(sync=True)

    def __init__(self, **settings):
        own_sizes = settings.keys() & _SIZES.keys()
        name = settings.get("model", "" if own_sizes else self.model)
        if any(name == model.name for model in PUBLISHED_MODELS):
            sizes = _sizes(name)
            if any(settings[size] != sizes[size] for size in own_sizes):
                name = ""
            settings = {**sizes, **settings}
        super().__init__(**{**settings, "model": name})

    @traitlets.observe("model")
    def _take_sizes(self, change):
        if change.new:
            with self.hold_trait_notifications():
                for size, value in _sizes(change.new).items():
                    setattr(self, size, value)

    @traitlets.observe(*_SIZES)
    def _own_sizes(self, change):
        if self.model and any(getattr(self, size) != value for size, value in _sizes(self.model).items()):
            self.model = ""
