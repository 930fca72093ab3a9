"""The same model, to the last bit, on any number of ranks:  mpirun -n 2 python ranks.py"""
import hashlib

import numpy as np
from mpi4py import MPI
from sklearn.datasets import make_classification

import bda

BLOCKS = 4
comm = MPI.COMM_WORLD
X, y = make_classification(2000, 30, n_classes=3, n_informative=10, random_state=1)
first, end = (len(y) * r // comm.size for r in (comm.rank, comm.rank + 1))  # each rank brings its own rows
model = bda.Classifier("logistic", blocks=BLOCKS, comm=comm).fit(X[first:end], y[first:end])
digest = hashlib.sha256(np.ascontiguousarray(model.coef_)).hexdigest()
if comm.rank == 0:
    print(f"gap {model.duality_gap_:.1e}, accuracy {model.score(X, y):.3f}, SHA-256 of coef_ {digest}")
assert len(set(comm.allgather(digest))) == 1
