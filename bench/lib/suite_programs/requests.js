// Node's part of bench/run programs: a server that is asked for compressed JSON over a socket, 30 requests at a time.
'use strict';
const http = require('http');
const zlib = require('zlib');

const records = Array.from({ length: 3000 }, (_, i) => ({ name: `record-${i}`, text: 'x'.repeat(i % 64), size: i * 31 % 4093 }));
const server = http.createServer((request, response) => {
  const from = Number(request.url.slice(1));
  zlib.gzip(JSON.stringify(records.slice(from, from + 300)), { level: 3 }, (error, body) => {
    if (error) throw error;
    response.end(body);
  });
});

function ask(port, number) {
  return new Promise((resolve, reject) => {
    http.get({ port, path: `/${number * 37 % 2700}`, agent }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => zlib.gunzip(Buffer.concat(parts), (error, body) => error ? reject(error) : resolve(JSON.parse(body).length)));
    }).on('error', reject);
  });
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 30 });
server.listen(0, async () => {
  const { port } = server.address();
  let total = 0;
  for (let turn = 0; turn < 50; turn++) {
    const lengths = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(port, turn * 30 + i)));
    total += lengths.reduce((sum, length) => sum + length, 0);
  }
  console.log(total);
  agent.destroy();
  server.close();
});
