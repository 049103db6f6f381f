"""Compares an exported predictor with `tenshot predict`: compare_export.py device.pt predictions.csv"""
import csv
import json
import sys

import torch

card = {"card.json": ""}
predictor = torch.jit.load(sys.argv[1], _extra_files=card)
assert json.loads(card["card.json"])["space"] == "nasbench201"
with open(sys.argv[2]) as file:
    rows = list(csv.DictReader(file))
predicted = predictor.predict([row["architecture"] for row in rows]).tolist()
equal = sum(abs(p / float(row["latency_ms"]) - 1) <= 1e-5 for p, row in zip(predicted, rows))
print(f"{equal} equal of {len(rows)}")

try:
    predictor.predict(["|nor_conv_7x7~0|"])
except Exception as error:
    assert "not an architecture of nasbench201" in str(error), error
else:
    sys.exit("a bad string was predicted")
sys.exit(equal != len(rows))
