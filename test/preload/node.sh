#!/bin/bash
# node: its own heap is mapped, not allocated; its buffers, its compilers and libuv's threads allocate.
. "$(dirname "$0")/lib.sh"
command -v node >/dev/null || script_skip "node is not installed (test/packages-nightly.txt)"
preload_binds node --version
cat >"$scratch/work.js" <<'JS'
const crypto = require("crypto"), zlib = require("zlib"), { Worker, isMainThread, parentPort } = require("worker_threads");
function work(seed) {
    const map = new Map();
    for (let i = 0; i < 60000; i++) {
        const key = ((i * 2654435761 + seed) >>> 0).toString(36);
        map.set(key, (map.get(key.slice(0, 3)) || "") + key.repeat(1 + (i % 5)));
    }
    const text = [...map].sort().join("\n");
    const packed = zlib.gzipSync(text, { level: 6 });
    const buffers = [];
    for (let i = 0; i < 2000; i++) buffers.push(Buffer.alloc(1 + ((i * 7919) % 50000), i & 255));
    return [map.size, text.length, crypto.createHash("sha256").update(zlib.gunzipSync(packed)).digest("hex"),
        crypto.createHash("sha256").update(Buffer.concat(buffers)).digest("hex")].join(" ");
}
if (isMainThread) {
    console.log(work(0));
    let left = 4;
    const answers = [];
    for (let i = 1; i <= left; i++) {
        const worker = new Worker(__filename);
        worker.on("message", (answer) => { answers[i] = answer; worker.terminate(); });
        worker.on("exit", () => { if (--left === 0) console.log(answers.join("\n")); });
        worker.postMessage(i);
    }
} else {
    parentPort.on("message", (seed) => parentPort.postMessage(work(seed)));
}
JS
cat >"$scratch/server.js" <<'JS'
const http = require("http");
const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => response.end(JSON.stringify({ url: request.url, length: body.length })));
});
server.listen(0, "127.0.0.1", async () => {
    let total = 0;
    const ask = (i) => new Promise((done) => {
        const request = http.request({ port: server.address().port, method: "POST", path: "/" + i }, (response) => {
            let text = "";
            response.on("data", (piece) => (text += piece));
            response.on("end", () => { total += JSON.parse(text).length; done(); });
        });
        request.end("x".repeat((i * 7919) % 100000));
    });
    for (let i = 0; i < 500; i += 10) await Promise.all([...Array(10).keys()].map((j) => ask(i + j)));
    console.log(total);
    server.close();
});
JS
succeeds "a program with threads" node "$scratch/work.js"
succeeds "a server" node "$scratch/server.js"
compare "an error" node -e 'throw 7'
preload_done
