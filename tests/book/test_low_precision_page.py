"""What pages without PyTorch say of it, tried: casts, autocast, its own ring."""

import re

import torch

import manuscript

BOOK = manuscript.read()


def made() -> torch.nn.Module:
    """A model of transformers, as far as the page's three lines see it."""
    model = torch.nn.Module()
    model.model = torch.nn.Module()
    model.head, model.device = torch.nn.Linear(2, 2), torch.device("cpu")
    rotary = model.model.rotary_emb = torch.nn.Module()
    rotary.register_buffer("inv_freq", 10_000 ** -(torch.arange(64) / 64))
    return model


def code_of_the_page() -> list[str]:
    """The programs that the page on 16 bits gives to copy."""
    text = BOOK.pages["book/beyond/low_precision"].text
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_speeds_survive_the_cast_with_the_lines_of_the_page() -> None:
    """The weights are cast; without the lines, a cast back leaves the speeds off."""
    kept, _ = code_of_the_page()
    model = made()
    exact = model.model.rotary_emb.inv_freq.clone()
    exec(kept, {"model": model, "torch": torch})
    assert model.head.weight.dtype == torch.bfloat16
    assert torch.equal(model.model.rotary_emb.inv_freq, exact)
    assert "model.rotary_emb.inv_freq" in dict(model.named_buffers())
    spoiled = made().to(torch.bfloat16).float().model.rotary_emb.inv_freq
    assert f"{(spoiled / exact - 1).abs().max():.2%}" == "0.37%"


def test_autocast_rounds_a_matrix_product_of_angles() -> None:
    """And no plain product; with the lines of the page neither."""
    _, guarded = code_of_the_page()
    t, speeds = torch.arange(16.0)[:, None], torch.ones(1, 64)
    names = {"torch": torch, "device_type": "cpu", "t": t, "speeds": speeds}
    with torch.autocast("cpu", torch.bfloat16):
        assert (t @ speeds).dtype == torch.bfloat16
        assert (t * speeds).dtype == torch.float32
        exec(guarded, names)
    assert names["angles"].dtype == torch.float32
