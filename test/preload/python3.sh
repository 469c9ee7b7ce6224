#!/bin/bash
# python3: parts of its own test-suite (Debian's package libpython3.11-testsuite) and a program.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
script_need "$python"
"$python" -c 'import test.test_subprocess' 2>"$scratch/import" ||
    script_fail "python's own tests are missing (test/run installs them): $(tail -n 1 "$scratch/import")"
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
preload_binds "$python" -c pass
# Small objects come from python's own pools; this sends them all to malloc.
export PYTHONMALLOC=malloc

cat >"$scratch/work.py" <<'PYTHON'
import collections, functools, hashlib, itertools, json, pickle, re, threading, zlib

words = [hashlib.md5(str(i).encode()).hexdigest()[: i % 17 + 3] for i in range(60000)]
tree = {}
for word in words:
    node = tree
    for letter in word:
        node = node.setdefault(letter, {})
print(len(json.dumps(tree)), hashlib.sha256(pickle.dumps(words)).hexdigest())
del tree
print(collections.Counter(itertools.chain.from_iterable(words)).most_common(5))
print(sum(len(re.findall(r"a+[0-9]{2,}", word)) for word in words))
results = [None] * 8

def work(index):
    blocks = [bytes([index]) * (i * 37 % 50000) for i in range(2000)]
    results[index] = functools.reduce(lambda value, block: zlib.crc32(block, value), blocks, 0)

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results, 3**20000 % 10**40)
PYTHON
succeeds "a program" "$python" "$scratch/work.py"
unset PYTHONMALLOC

# Outcomes by test, without times and without the order in which they came.
outcomes() {
    local status=0
    timeout 280 "$python" -m test -v "$1" >out.txt 2>&1 || status=$?
    grep -oE '^test[A-Za-z0-9_]* \([A-Za-z0-9_.]*\) \.\.\. ' out.txt | sort
    grep -E '^(FAIL|ERROR): ' out.txt | sort
    grep -E '^(Ran [0-9]+ tests|FAILED|OK)' out.txt | sed -E 's/ in [0-9.]+s//'
    grep -E '^fallow:' out.txt
    return "$status"
}
export -f outcomes
export python
for suite in test_json test_re test_threading test_subprocess; do
    compare "$suite" bash -c "outcomes $suite"
    tests=$(sed -nE 's/^Ran ([0-9]+) tests.*/\1/p' "$scratch/fallow.out")
    [ "${tests:-0}" -gt 20 ] || {
        tail -n 30 "$scratch/fallow/out.txt" >&2
        script_fail "$suite ran '$tests' tests"
    }
    [ "$compared_status" = 0 ] || script_fail "$suite fails under both"
done
preload_done
