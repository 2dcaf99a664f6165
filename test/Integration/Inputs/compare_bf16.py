"""compare_bf16.py GOT.npy WANT.npy LIMIT: fails if the relative L2 distance is above LIMIT."""
import sys

import numpy as np

got, want = ((np.load(path).astype(np.uint32) << 16).view(np.float32).astype(np.float64) for path in sys.argv[1:3])
distance = np.linalg.norm(got - want) / np.linalg.norm(want)
print(f"relative L2 distance {distance:.2e}, limit {sys.argv[3]}")
sys.exit(not distance <= float(sys.argv[3]))
