# forward() of an exported forest, in TorchScript: an encoding that holds probabilities goes both ways at every split, with
# what its column says as the share of the one. Nodes are reached from the roots on, all of one depth at a time.


def forward(self, encoding: Tensor) -> Tensor:
    latency: List[Tensor] = []
    for some in torch.split(encoding, 64):
        node = self.roots
        share = torch.ones_like(some[:, :1]).expand([some.size(0), node.size(0)])
        total = torch.zeros_like(some[:, 0])
        while node.size(0) > 0:
            is_leaf = self.ones[node] == node
            leaf = torch.nonzero(is_leaf).squeeze(1)
            total = total + torch.mv(share[:, leaf], self.leaves[node[leaf]].to(some.dtype))
            split = torch.nonzero(torch.logical_not(is_leaf)).squeeze(1)
            one = some[:, self.features[node[split]]]
            share = torch.cat([share[:, split] * one, share[:, split] * (1.0 - one)], 1)
            node = torch.cat([self.ones[node[split]], self.zeros[node[split]]])
        latency.append(torch.exp(total / self.roots.size(0)))
    return torch.cat(latency)
