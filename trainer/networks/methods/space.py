# Methods of an exported predictor of a space, in TorchScript: a string is parts joined by a separator, each part decides
# some of the decisions, and what parts stand for is added. Sources that C++ compiles know no torch.int64: it is 4.


def encode(self, architectures: List[str]) -> Tensor:
    rows: List[int] = []
    for text in architectures:
        parts = text.split(self.separator)
        assert len(parts) == len(self.part_rows), 'not an architecture of ' + self.space + ': ' + text
        for i in range(len(parts)):
            known = self.part_rows[i]
            part = parts[i]
            assert part in known, 'not an architecture of ' + self.space + ': ' + text + ' (what does ' + part + ' mean?); expected the form ' + self.example
            rows.append(known[part])
    index = torch.tensor(rows, dtype=4).view([len(architectures), len(self.part_rows)])
    return self.part_encodings[index].sum(1)
