"""ALiBi's bias of attention scores as a PyTorch module."""

import torch
from torch import Tensor

from pe_lib._arguments import as_choice, as_flag, as_integer
from pe_lib.beyond.bias import RULES, alibi_slopes
from pe_lib.nn._arguments import as_whole, with_float64
from pe_lib.nn._tables import Tabled


class AlibiBias(Tabled):
    r"""ALiBi's bias, the distance times minus a slope, as Press et al. (2022).

    .. math:: b_{h,t,s} = -m_h\,|t - s|

    What :func:`pe_lib.beyond.bias.alibi_bias` computes, rounded once to float32,
    whatever the dtype of the module. Nothing is learned and nothing is saved; a
    longer text needs no other module. Distances are computed before they are
    multiplied: slope times the key's position is the same to a softmax in exact
    numbers, and in bfloat16 it makes neighbours equal. In 16 bits what is lost is the
    sum of score and bias: add it in float32.

    ``nn.TransformerEncoder`` in eval under ``no_grad`` takes a fast path that turns a
    mask of numbers into booleans: each token then sees only itself, and no error is
    raised. ``torch.backends.mha.set_fastpath_enabled(False)`` cures it.

    With `causal` later keys are hidden; without a mask before and after are alike.
    `rule`, "program" or "paper", says which slopes, see
    :func:`pe_lib.beyond.bias.alibi_slopes`; they have 32 bits or more. Padding and
    documents in one text need a mask of their own besides, and no other bias. Raises
    TypeError or ValueError if an argument has a wrong type or is out of range.

    >>> bias = AlibiBias(8, causal=True)
    >>> bias(3)[0]
    tensor([[ 0.0000,    -inf,    -inf],
            [-0.5000,  0.0000,    -inf],
            [-1.0000, -0.5000,  0.0000]])

    The next word, with ten in the cache, and the whole of attention:

    >>> bias(1, 11).shape
    torch.Size([8, 1, 11])
    >>> queries, keys, values = torch.randn(3, 2, 8, 10, 16)
    >>> attended = torch.nn.functional.scaled_dot_product_attention(
    ...     queries, keys, values, attn_mask=bias(10)
    ... )
    """

    _always_wide = True

    def __init__(
        self,
        num_heads: int,
        *,
        causal: bool = False,
        rule: str = "program",
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_heads = as_integer("num_heads", num_heads, at_least=1)
        self.causal = as_flag("causal", causal)
        self.rule = as_choice("rule", rule, RULES)
        slopes = torch.from_numpy(alibi_slopes(self.num_heads, rule=self.rule))
        self._make_table(slopes.shape, slopes, device, dtype)

    def forward(
        self, length: int, key_length: int | None = None, *, offset: int | None = None
    ) -> Tensor:
        """What is added to the scores, after these were divided by a root.

        Raises TypeError if an argument is no integer, ValueError if a length is below
        1.

        Parameters
        ----------
        length, key_length : int
            Number of queries and of keys, at least 1; as many keys as queries if
            left out.
        offset : int
            Position of the first query, if the first key is at 0. If left out, the
            queries are the last: ``bias(1, 11)`` is the row of the eleventh word.

        Returns
        -------
        tensor [num_heads, length, key_length]
            Numbers of 32 bits, also in a module cast to 16; of 64 in a module cast to
            64. Add them to float32 scores, or hand them to
            scaled_dot_product_attention.
        """
        length = keys = as_whole("length", length, 1)
        if key_length is not None:
            keys = as_whole("key_length", key_length, 1)
        first = keys - length if offset is None else as_whole("offset", offset)
        device = self.table.device
        if torch.compiler.is_compiling():  # which would fix the number of keys below
            queries = first + torch.arange(length, device=device)
            return self._biases(torch.arange(keys, device=device) - queries[:, None])
        # One number an offset; then each query takes its stretch of them.
        offsets = torch.arange(length + keys - 1, device=device)
        biases = self._biases((offsets - (first + length - 1))[None])
        return biases.squeeze(-2).unfold(-1, keys, 1).flip(-2)

    def _biases(self, offsets: Tensor) -> Tensor:
        """Of key's position minus query's [q, k]: [num_heads, q, k]."""
        device = with_float64(offsets.device)
        slopes = self._exact.to(device)[:, None, None]
        values = (0 - offsets.to(device).abs() * slopes).to(self.table)
        return values.masked_fill(offsets > 0, float("-inf")) if self.causal else values

    def _fill(self, table: Tensor) -> None:
        table.copy_(self._exact)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return f"{self.num_heads}, causal={self.causal}, rule={self.rule!r}"
