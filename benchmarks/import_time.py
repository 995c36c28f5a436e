"""What `import doubletrouble` adds to `import numpy`, in fresh interpreters."""

import subprocess
import sys

CODE = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import doubletrouble
print(middle - start, time.perf_counter() - middle)
"""


def main() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
        for _ in range(7)
    ]
    times = sorted(tuple(float(v) for v in run.stdout.split()) for run in runs)
    numpy_time, ours = (sorted(column)[len(times) // 2] for column in zip(*times, strict=True))
    print(f"import numpy {numpy_time * 1e3:.0f} ms, import doubletrouble adds {ours * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
