# Methods of an exported predictor of networks by name, in TorchScript. 4 is torch.int64.


def encode(self, networks: List[str]) -> Tensor:
    rows: List[int] = []
    for name in networks:
        assert name in self.rows, 'the file carries no network ' + name + '; give forward() what tenshot network features writes of its file'
        rows.append(self.rows[name])
    return self.network_features[torch.tensor(rows, dtype=4)]
