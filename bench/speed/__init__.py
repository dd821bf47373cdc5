"""How fast the harness is beside other libraries: ``python -m bench.speed``."""

import os

# read once, when numpy, faiss and numba are loaded: whoever has more threads than the others is not compared
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"
