"""The one training loop of all models here."""

import math
from collections.abc import Callable, Iterable
from functools import partial

import torch
from torch import Tensor, nn
from torch.optim import Adam
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

WARM_UP = 50


def fit(
    parameters: Iterable[nn.Parameter],
    loss_at: Callable[[int], Tensor],
    steps: int,
    rate: float,
    *,
    schedule: Callable[[Adam], LRScheduler] | None = None,
    shares: Tensor | None = None,
) -> list[Tensor]:
    """Train parameters in place by Adam, on a fresh batch each step.

    Parameters
    ----------
    parameters : iterable of torch.nn.Parameter
    loss_at : callable
        The loss of a step, which draws its batch; of several numbers the sum counts.
    steps, rate : int, float
        The largest rate; it grows for 50 steps and then falls along a cosine.
    schedule : callable, optional
        Makes a different schedule for the optimiser.
    shares : Tensor, optional
        Which part of each of Adam's steps is taken, as it broadcasts with parameters.

    Returns the losses of all steps.
    """
    parameters, losses = list(parameters), []
    adam = Adam(parameters, rate, fused=True)
    if schedule is None:
        rates: LRScheduler = LambdaLR(adam, partial(warm_cosine, steps))
    else:
        rates = schedule(adam)
    for step in range(steps):
        loss = loss_at(step)
        adam.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        # A step of Adam is as long as its rate: a smaller rate takes a part of it.
        before = [p.detach().clone() for p in parameters if shares is not None]
        adam.step()
        if shares is not None:
            for parameter, old in zip(parameters, before, strict=True):
                parameter.data = torch.lerp(old, parameter.data, shares)
        rates.step()
        losses.append(loss.detach())
    return losses


def warm_cosine(steps: int, step: int) -> float:
    """The rate of a step as a share of the largest.

    >>> [round(warm_cosine(500, step), 3) for step in (0, 49, 250, 499)]
    [0.02, 0.976, 0.5, 0.0]
    """
    warm = min(1, (step + 1) / WARM_UP)
    return warm * (1 + math.cos(math.pi * step / steps)) / 2
