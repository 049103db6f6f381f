"""Latency predictors of neural networks from ten measurements.

>>> ten = tenshot.plan("pool.tenshot", samples=10)
>>> predictor = tenshot.adapt("pool.tenshot", {architecture: measure(architecture) for architecture in ten})
>>> latency_ms, lower_ms, upper_ms = predictor.predict_interval(candidates, confidence=0.9)
"""
import importlib.util as _util
import os as _os
from collections.abc import Mapping as _Mapping

from . import native
from .native import *  # noqa: F401,F403
from .native import InputError, Predictor, Space, __version__  # noqa: F401

# What needs LibTorch takes that of the package torch, where no other is installed.
_torch = _util.find_spec("torch")
if _torch is not None and _torch.submodule_search_locations:
    _folder = _os.path.join(_torch.submodule_search_locations[0], "lib")
    if _os.path.isdir(_folder):
        _os.environ.setdefault("TENSHOT_LIBTORCH", _folder)

_COLUMNS = {"latency": "latency_ms", "cold": "cold_ms", "energy": "energy_mj", "memory": "memory_mib"}


def _measured(source, quantity):
    """A pandas DataFrame or Series, or a dict, as a list of names and values, all else as it is; and of what quantity."""
    if hasattr(source, "columns"):
        wanted = [_COLUMNS.get(quantity, quantity)] if quantity else list(_COLUMNS.values())
        found = [column for column in wanted if column in source]
        names = next((source[name] for name in ("architecture", "network") if name in source), source.index)
        if len(found) != 1:
            raise InputError(f"the DataFrame has the columns {list(source.columns)}, expected {' or '.join(wanted)} beside "
                             "architecture (or network)")
        quantity = next((name for name, column in _COLUMNS.items() if column == found[0]), quantity)
        source = source[found[0]].set_axis(list(names))
    if hasattr(source, "to_dict") or isinstance(source, _Mapping):
        numbers = []
        for name, value in source.items():
            try:
                numbers.append((_os.fspath(name), float(value)))
            except (TypeError, ValueError):
                raise InputError(f"measurements are numbers by architecture (or network): {name!r} has {value!r}") from None
        source = numbers
    return source, quantity


def adapt(checkpoint=None, measurements=None, seed=1, quantity=None, on_progress=None, like="", operators=None, fleet=False,
          runtime=""):
    """Adapts a checkpoint to a device; gives a Predictor.

    checkpoint    a file, or the name of a shipped one, such as "networks"; without it the shipped one that fits the
                  measurements: networks.tenshot for networks by name, cells.tenshot for NAS-Bench-201
    measurements  ms by architecture: a dict, a pandas Series, or a DataFrame with the columns architecture (or network)
                  and latency_ms; or a CSV file, the folder of a device-runtime, or a kit with results; or a list of such
                  files. Of several values of a network the median counts; in one file, the first.
    quantity      what was measured: "latency", "cold", "energy" or "memory", in ms, ms, mJ or MiB; what the checkpoint is
                  of unless told otherwise. One of latencies is a prior for every quantity.
    on_progress   called with (epoch, epochs, loss) while a network trains; what it raises stops the training
    like          a device-runtime that the checkpoint knows, which with its other settings is then the whole prior; it
                  needs no measurements
    operators     an operators.csv with what operators take inside the measured networks, in the place of what a kit's
                  profiles or a device-runtime's folder say of it
    fleet         each file of the list is of one of several boards of one kind, as kits say by themselves: the typical
                  board is predicted, and intervals are for another one of the kind
    runtime       operators: what runs the networks on the device, as `tenshot devices` calls it, such as "ncnn, Vulkan":
                  device-runtimes of others then count less

    Warns of measurements that look wrong. Raises InputError on those that cannot be used, FileError, FormatError."""
    measurements, quantity = _measured(measurements, quantity)
    return native.adapt(checkpoint, measurements, seed, quantity, on_progress, like, operators, fleet, runtime)


def plan(checkpoint=None, samples=10, sampler="information", candidates=None, measured=None, seed=1, quantity=None, fleet=False,
         profile=False, runtime=""):
    """The architectures to measure on a new device, a list of `samples` strings, the most informative first.

    `candidates` may be measured, by default what the pool measured, or where a checkpoint has no rows 1,000 of its space;
    without `checkpoint`, the shipped one that fits them. `measured`, as the measurements of adapt(), has been measured
    already; `fleet` and `runtime` are those of adapt(): of devices with that runtime more is known of what tells them apart.
    `profile`: operators inside the measured networks will be timed too (measure.sh
    --profile). Raises InputError, FileError, FormatError."""
    if candidates is not None:
        candidates = list(dict.fromkeys(map(_os.fspath, _texts(candidates))))  # a population of a search repeats
    measured, quantity = _measured(measured, quantity)
    return native.plan(checkpoint, samples, sampler, candidates, measured, seed, quantity, fleet, profile, runtime)


def random_architectures(space, count, seed=1):
    """`count` architectures drawn uniformly from the search space of that name, as strings."""
    return Space(space).random(count, seed)


def space_from_modules(*arguments, **options):
    from . import modules  # needs torch
    return modules.space_from_modules(*arguments, **options)


space_from_modules.__doc__ = """space_from_modules(name, layers, *, input, stem=None, head=None, path=None) -> dict

A search space (`tenshot.space/1`) from torch modules; help(tenshot.modules.space_from_modules) says more."""


def _texts(architectures):
    """What names architectures: the column `architecture` or `network` of a DataFrame, else its index; the values of an
    array of two dimensions; a list of one text; anything else as it is."""
    columns = getattr(architectures, "columns", None)
    if isinstance(architectures, (str, _os.PathLike)):
        return [architectures]
    if columns is None:
        return architectures.ravel() if getattr(architectures, "ndim", 1) == 2 else architectures
    column = next((name for name in ("architecture", "network") if name in columns), None)
    return architectures.index if column is None else architectures[column]


def _to_frame(self, architectures=None, confidence=0.9, shapes={}):
    """Predictions as a pandas DataFrame with a row for each architecture (by default all of the space): the index
    `architecture`, and the columns latency_ms, lower_ms, upper_ms, or those of another quantity."""
    import pandas
    texts = list(self.architectures() if architectures is None else _texts(architectures))
    column = _COLUMNS[self.quantity]
    unit = column.rsplit("_", 1)[1]
    if self.has_intervals:
        found = self.predict_interval(texts, confidence, shapes)
    else:
        found = [self.predict(texts, shapes)]
    return pandas.DataFrame(dict(zip([column, f"lower_{unit}", f"upper_{unit}"], found)),
                            index=pandas.Index([str(text) for text in texts], name="architecture"))


class Verdict:
    """How far adapt() trusts a predictor, by the width of its 90 % intervals over the networks of the pool, or of the
    measured ones where the pool lists none. str() says it in a sentence.

    trust                            "good" (within ±10 %), "fair" (±20 %), "poor", or "doubtful" where the measurements
                                     gave reason to warn
    within_percent                   nine of ten predictions are expected within ± so many percent
    within_percent_of_other_kinds    the same of networks of other kinds than were measured; None where networks are not
                                     compared
    within_percent_after_three_more  the same after three more measurements; None where the predictor does not say
    measurements, warnings           how many it was made from, and how many of its remarks warn"""

    def __init__(self, text, trust, within_percent, measurements, warnings, within_percent_after_three_more=None,
                 within_percent_of_other_kinds=None):
        self.trust, self.within_percent, self.measurements, self.warnings = trust, within_percent, measurements, warnings
        self.within_percent_of_other_kinds = within_percent_of_other_kinds
        self.within_percent_after_three_more, self._text = within_percent_after_three_more, text

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<tenshot.Verdict '{self._text}'>"


def _verdict(self):
    """How far to trust it, as adapt() found it: a Verdict. None where it has no intervals, and of a file that an earlier
    version wrote."""
    return None if self._verdict is None else Verdict(**self._verdict)


def _explanation(self):
    """What adapting found out about the device, in sentences; may be empty."""
    return "\n".join(self.remarks)


Predictor.to_frame, Predictor.verdict, Predictor.explanation = _to_frame, property(_verdict), property(_explanation)
Predictor.kind = property(lambda self: self.card["predictor"], doc="'structured', 'operators', 'maple-edge' and so on.")
Predictor.quantity = property(lambda self: self.card.get("quantity", "latency"), doc="'latency', 'cold', 'energy' or 'memory'.")
Predictor.unit = property(lambda self: self.card.get("unit", "ms"), doc="Of what it predicts: 'ms', 'mJ' or 'MiB'.")
Predictor.__repr__ = lambda self: f"<tenshot.Predictor '{self.kind}' of {self.quantity} in the space {self.space}>"


class LatencyRegressor:
    """A predictor in scikit-learn's shape. X are architectures, names of networks or their files; y is what they take.

    >>> LatencyRegressor("networks").fit(ten, ten_ms).predict(candidates)

    `checkpoint`, `quantity`, `seed` and `like` are those of tenshot.adapt; fit() sets `predictor_`."""

    _estimator_type = "regressor"

    def __sklearn_tags__(self):  # what scikit-learn 1.6 and later ask instead of _estimator_type
        from sklearn.utils import RegressorTags, Tags, TargetTags
        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True), regressor_tags=RegressorTags())

    def __init__(self, checkpoint=None, quantity=None, seed=1, like="", runtime=""):
        self.checkpoint, self.quantity, self.seed, self.like, self.runtime = checkpoint, quantity, seed, like, runtime

    def get_params(self, deep=True):
        """The arguments that it was made with, as a dict."""
        return {name: getattr(self, name) for name in ("checkpoint", "quantity", "seed", "like", "runtime")}

    def set_params(self, **parameters):
        """Changes arguments that it was made with; gives the regressor itself."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise ValueError(f"LatencyRegressor has no parameter {name!r}; it has {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def fit(self, X, y):
        """Adapts the checkpoint to the measurements y of X; one measured several times counts by its median."""
        measured = [(str(text), float(value)) for text, value in zip(_texts(X), y, strict=True)]
        self.predictor_ = adapt(self.checkpoint, measured, self.seed, self.quantity, like=self.like, runtime=self.runtime)
        return self

    def predict(self, X):
        """What X are predicted to take, an array of shape [N]."""
        return self.predictor_.predict(_texts(X))

    def predict_interval(self, X, confidence=0.9):
        """The same with bounds: three arrays of shape [N]."""
        return self.predictor_.predict_interval(_texts(X), confidence)

    def score(self, X, y):
        """The share of predictions within ±10 % of y."""
        predicted = self.predict(X)
        return sum(abs(p / float(value) - 1) <= 0.1 for p, value in zip(predicted, y, strict=True)) / len(predicted)
