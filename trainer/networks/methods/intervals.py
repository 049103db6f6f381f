# Methods of an exported predictor that has intervals, in TorchScript. values() gives the latency and the deviation of its
# logarithm.


def quantile(self, probability: float) -> float:
    at = int(torch.searchsorted(self.probabilities, probability))
    at = max(1, min(at, self.probabilities.size(0) - 1))
    below = float(self.probabilities[at - 1])
    above = float(self.probabilities[at])
    share = min(1.0, max(0.0, (probability - below) / (above - below)))
    return float(self.quantiles[at - 1]) * (1.0 - share) + float(self.quantiles[at]) * share


def forward_interval(self, encoding: Tensor, confidence: float) -> Tuple[Tensor, Tensor, Tensor]:
    assert confidence > 0.0 and confidence <= 0.999, 'confidence is a share of 0 to 0.999, such as 0.9'
    below = min(self.quantile((1.0 - confidence) / 2.0), 0.0)
    above = max(self.quantile((1.0 + confidence) / 2.0), 0.0)
    values = self.values(encoding)
    latency, deviation = values[0].squeeze(1), values[1].squeeze(1)
    lower, upper = latency * torch.exp(below * deviation), latency * torch.exp(above * deviation)
    usable = upper < self.widest_interval * lower
    refused = torch.full_like(latency, float('nan'))
    return (torch.where(usable, latency, refused), torch.where(usable, lower, refused), torch.where(usable, upper, refused))


def predict_interval(self, architectures: List[str], confidence: float) -> Tuple[Tensor, Tensor, Tensor]:
    return self.forward_interval(self.encode(architectures), confidence)
