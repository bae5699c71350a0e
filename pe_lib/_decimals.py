"""Numbers in sixty digits: pi, and the frequencies of the clocks."""

import decimal

PI = "3.14159265358979323846264338327950288419716939937510582097494459230781640629"
DIGITS = decimal.Context(prec=60)


def decimal_frequencies(
    d_model: int, base: float, spacing: str, first_pair: int = 0
) -> list[decimal.Decimal]:
    """The frequencies of angular_frequencies to sixty digits, fastest first.

    With `first_pair` = 1 their pairs are counted from k = 1: each is one step slower.
    """
    pairs = (d_model + 1) // 2
    with decimal.localcontext(DIGITS):
        steps = (
            decimal.Decimal(d_model) / 2 if spacing == "paper" else max(pairs - 1, 1)
        )
        ratio = (-decimal.Decimal(base).ln() / steps).exp()
        found = [ratio**first_pair]
        for _ in range(1, pairs):
            found.append(found[-1] * ratio)
    return found
