#!/usr/bin/env python3
"""A search under a latency limit that asks and tells, as Optuna's studies do, with nothing of tenshot but one exported file.

    tenshot export --predictor device.tenshot --torchscript device.pt
    /usr/bin/python3 experiments/ask_and_tell.py device.pt --limit-ms 5 [--trials 2000] [--worth worth.json]

Every space of decisions will do. The limit is held by the upper bound of the 90 % interval where the predictor has
intervals. worth.json has a number for each option of each decision, [[0.1, 0.5], …]; what an architecture is worth is their
sum. Without it these are MADE UP, so that there is something to search. Put your own training in the place of `worth_of`.
"""
import argparse
import json
import random

import torch


class Study:
    """Regularised evolution (Real et al., AAAI 2019): the best of a few of the youngest is changed in one decision."""

    def __init__(self, decisions, seed=1, population=100, contenders=20):
        self.decisions, self.population, self.contenders = decisions, population, contenders
        self.random, self.told = random.Random(seed), []

    def ask(self):
        """The option of each decision that is tried next."""
        if len(self.told) < self.population:
            return [self.random.randrange(options) for options in self.decisions]
        youngest = self.told[-self.population:]
        choices = list(max(self.random.sample(youngest, self.contenders))[1])
        changed = self.random.randrange(len(choices))
        choices[changed] = self.random.randrange(self.decisions[changed])
        return choices

    def tell(self, choices, value):
        """What they turned out to be worth; more is better."""
        self.told.append((value, choices))

    @property
    def best(self):
        return max(self.told)


def latency_ms(predictor, choices):
    """The latency and its upper bound, which is the latency itself where there are no intervals."""
    encoding = torch.cat([torch.nn.functional.one_hot(torch.tensor(choice), options)
                          for choice, options in zip(choices, predictor.decisions)]).float().unsqueeze(0)
    if hasattr(predictor, "forward_interval"):
        latency, _, upper = predictor.forward_interval(encoding, 0.9)
        return float(latency), float(upper)
    return float(predictor(encoding)), float(predictor(encoding))


def search(predictor, worth, limit_ms, trials, seed=1):
    """The study, whose best is the worthiest architecture within the limit."""
    def worth_of(choices):
        return sum(options[choice] for options, choice in zip(worth, choices))

    study = Study(predictor.decisions, seed)
    for _ in range(trials):
        choices = study.ask()
        _, upper = latency_ms(predictor, choices)
        study.tell(choices, worth_of(choices) if upper <= limit_ms else -upper / limit_ms)
    return study


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictor")
    parser.add_argument("--limit-ms", type=float, required=True)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--worth")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    predictor = torch.jit.load(options.predictor)
    if options.worth:
        with open(options.worth, encoding="utf-8") as file:
            worth = json.load(file)
    else:
        print("What options are worth is made up: --worth says what they are")
        made_up = random.Random(options.seed)
        worth = [[made_up.random() for _ in range(count)] for count in predictor.decisions]
    value, choices = search(predictor, worth, options.limit_ms, options.trials, options.seed).best
    latency, upper = latency_ms(predictor, choices)
    if value < 0:
        raise SystemExit(f"nothing within {options.limit_ms} ms was found; the nearest takes {latency:.4g} ms, at most {upper:.4g}")
    print(f"options {choices}: {latency:.4g} ms, at most {upper:.4g} ms; worth {value:.4g}")


if __name__ == "__main__":
    main()
