#!/bin/bash
# malloc_info writes XML that a parser takes, with figures that agree with mallinfo2's.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need python3
LD_PRELOAD=$FALLOW_SO PYTHONMALLOC=malloc python3 - <<'PYTHON' || script_fail "malloc_info"
import ctypes
import tempfile
import xml.etree.ElementTree as tree

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fopen.argtypes = ctypes.c_char_p, ctypes.c_char_p
libc.malloc_info.argtypes = ctypes.c_int, ctypes.c_void_p
libc.fclose.argtypes = (ctypes.c_void_p,)


class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc.mallinfo2.restype = Info
kept = [bytes(1000 + i) for i in range(3000)] + [bytes(10 << 20)]
with tempfile.NamedTemporaryFile() as file:
    stream = libc.fopen(file.name.encode(), b"w")
    assert libc.malloc_info(0, stream) == 0
    info = libc.mallinfo2()
    assert libc.fclose(stream) == 0
    text = file.read().decode()
root = tree.fromstring(text)
assert root.tag == "malloc" and root.get("version") == "1"
heaps = root.findall("heap")
assert [heap.get("nr") for heap in heaps] == [str(i) for i in range(len(heaps))] and heaps
for heap in heaps:
    sizes = heap.findall("sizes/size")
    for size in sizes:
        assert int(size.get("from")) <= int(size.get("to"))
        assert int(size.get("total")) == int(size.get("count")) * int(size.get("to"))
    free = sum(int(size.get("total")) for size in sizes)
    assert free <= int(heap.find("total[@type='rest']").get("size"))
totals = {total.get("type"): int(total.get("size")) for total in root.findall("total")}
assert totals["mmap"] == info.hblkhd >= 10 << 20, (totals, info.hblkhd)
# What Python did between the two calls is all they may differ by.
assert abs(totals["fast"] + totals["rest"] - info.fordblks) < 1 << 20, (totals, info.fordblks)
assert int(root.find("system[@type='current']").get("size")) >= info.arena + info.hblkhd
print(len(text), "bytes of XML,", len(heaps), "arenas, fast", totals["fast"], "rest", totals["rest"])
PYTHON
