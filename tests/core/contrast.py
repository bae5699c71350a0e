"""How well one colour is seen on another."""

import numpy as np


def luminance(colour):
    """Relative luminance: WCAG 2.2, definition of that name."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(one, other):
    """Contrast ratio: WCAG 2.2, definition of that name."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def mixed(ink, paper, opacity):
    """What an ink of that opacity looks like on paper."""
    channels = [
        opacity * int(ink[i : i + 2], 16) + (1 - opacity) * int(paper[i : i + 2], 16)
        for i in (1, 3, 5)
    ]
    return "#" + bytes(map(round, channels)).hex()
