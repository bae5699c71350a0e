"""What pages without PyTorch say of it, tried: casts, autocast, its own ring."""

import re

import torch

import manuscript

BOOK = manuscript.read()


class _Rotary(torch.nn.Module):
    """Speeds as transformers keeps them."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", 10_000 ** -(torch.arange(64) / 64))


class _Model(torch.nn.Module):
    """A model of transformers, as far as the page's three lines see it."""

    device = torch.device("cpu")

    def __init__(self) -> None:
        super().__init__()
        self.model = torch.nn.Module()
        self.model.rotary_emb = _Rotary()
        self.head = torch.nn.Linear(2, 2)


def code_of_the_page() -> list[str]:
    """The programs that the page on 16 bits gives to copy."""
    text = BOOK.pages["book/beyond/low_precision"].text
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_speeds_survive_the_cast_with_the_lines_of_the_page() -> None:
    """The weights are cast; without the lines, a cast back leaves the speeds off."""
    kept, _ = code_of_the_page()
    model = _Model()
    exact = model.model.rotary_emb.inv_freq.clone()
    exec(kept, {"model": model, "torch": torch})
    assert model.head.weight.dtype == torch.bfloat16
    assert torch.equal(model.model.rotary_emb.inv_freq, exact)
    assert "model.rotary_emb.inv_freq" in dict(model.named_buffers())
    spoiled = _Model().to(torch.bfloat16).float().model.rotary_emb.inv_freq
    assert f"{(spoiled / exact - 1).abs().max():.2%}" == "0.37%"


def test_autocast_rounds_a_matrix_product_of_angles() -> None:
    """And no plain product; with the lines of the page neither."""
    _, guarded = code_of_the_page()
    t, speeds = torch.arange(16.0)[:, None], torch.ones(1, 64)
    made = {"torch": torch, "device_type": "cpu", "t": t, "speeds": speeds}
    with torch.autocast("cpu", torch.bfloat16):
        assert (t @ speeds).dtype == torch.bfloat16
        assert (t * speeds).dtype == torch.float32
        exec(guarded, made)
    assert made["angles"].dtype == torch.float32
