"""The input of git's part of bench/run programs: a history for git fast-import, the same each time."""
import random
import sys

numbers = random.Random(7)
words = ["".join(numbers.choices("etaoinshrdlu", k=numbers.randint(2, 9))) for _ in range(3000)]
files = {f"dir{i % 12}/file{i}.txt": numbers.choices(words, k=numbers.randint(100, 2500)) for i in range(150)}
out = sys.stdout.buffer
for commit in range(400):
    out.write(f"commit refs/heads/main\ncommitter A <a@example.org> {1600000000 + commit * 3600} +0000\n"
              f"data 8\ncommit {commit % 10}\n".encode())
    for name in numbers.sample(sorted(files), 6) if commit else sorted(files):
        text = files[name]
        for _ in range(20):
            text[numbers.randrange(len(text))] = numbers.choice(words)
        content = "\n".join(" ".join(text[i:i + 10]) for i in range(0, len(text), 10)).encode()
        out.write(f"M 100644 inline {name}\ndata {len(content)}\n".encode() + content + b"\n")
