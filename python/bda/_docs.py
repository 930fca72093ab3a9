"""What parameters are called and what they mean, in the words of the library."""
import inspect

from . import _core
from ._library import text

# Parameters that have scikit-learn's names instead of the library's.
NAMES = {"cost": "C", "gap": "tol", "max-rounds": "max_iter", "threads": "n_jobs", "seed": "random_state",
         "bias": "intercept_scaling"}


def help_of(option):
    """The library's own sentence about an option, in the names of Python."""
    sentence = text(_core.option_names()[option.replace("-", "_")].help)
    for name in sorted(_core.option_names(), key=len, reverse=True):
        dashed = name.replace("_", "-")
        sentence = sentence.replace("--" + dashed, NAMES.get(dashed, name))
    return sentence


def signature_without_options(kind):
    """The parameters that have a place of their own: what tools set one by one."""
    signature = inspect.signature(kind.__init__)
    return signature.replace(parameters=[p for p in list(signature.parameters.values())[1:] if p.kind is not p.VAR_KEYWORD])


def _parameters(kind):
    lines = {
        "loss": None, "C": "cost", "epsilon": "epsilon", "l1_ratio": "l1-ratio", "tol": "gap",
        "fit_intercept": "bool: learn a constant term, too",
        "intercept_scaling": "bias", "class_weight": "class-weight", "method": "method", "max_iter": "max-rounds",
        "max_time": "max-time", "n_jobs": "int: threads; None is 1, -1 all processors",
        "blocks": "blocks",
        "random_state": "int: names the random order in which instances are visited, and asks for results that repeat, "
                        "to the last bit, for the same n_jobs (for any n_jobs: give blocks, too)",
        "warm_start": "bool: fit begins at the weights of the last fit, if that was of the same classes and features",
        "verbose": "int: 1 prints a line each second, 2 one each round",
        "callback": "function of a dict with " + ", ".join(_core.PROGRESS) + "; called after each round. Returning "
                    "True ends the training, and the best model so far is kept",
        "comm": "mpi4py communicator: all its ranks fit together, each brings its own rows",
    }
    texts = {"loss": "str: " + help_of("loss")}
    for name in kind._get_param_names():
        line = texts.get(name) or lines[name]
        if " " not in line:
            line = help_of(line)
        yield f"{name} : {line}"


def document(kind, first):
    """The docstring: parameters as the library tells of them."""
    linear, classify = kind._task in ("classify", "regress"), kind._task == "classify"
    weights = "coef_, intercept_, n_features_in_, feature_names_in_" + (", classes_" if classify else "") + "\n"
    more = """
Any other option of `bda train` may be given by name (underscores for dashes), as ``local_epochs=2``.

Attributes after fit
--------------------
{weights}n_iter_ : rounds
duality_gap_ : (objective_ + dual_objective_) / objective_: the objective is at most that part above the least
objective_, dual_objective_ : at the end; the dual is minimised, and at the optimum it is minus the objective
history_ : a pandas.DataFrame with a row for each round
stopped_ : "gap", "max-iter", "max-time", "stalled", "interrupted" or "finished"
method_ : the method that trained
same_bits_ : whether the same call gives the same bits again
"""
    body = "\n\n".join(_parameters(kind))
    kind.__doc__ = (first + "\n\nParameters\n----------\n" + body + "\n" +
                    more.format(weights=weights if linear else ""))
