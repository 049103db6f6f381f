#!/usr/bin/env node
// Times the ONNX files of a folder on ONNX Runtime, one thread, and appends to a CSV of network,round,latency_ms,runs:
//   NODE_PATH=… node sizes_onnxruntime.js FOLDER LIST.csv all|extended|basic|disabled ROUNDS OUT.csv
// Every round visits each network once: a run and at least 50 ms to warm up, then at least two runs and 100 ms of them,
// fifty at most. A visit that OUT.csv has is not made again; a network that fails has the reason in the last column. An input
// of integers takes numbers below what LIST.csv's last column says of it, as "input0=1000".
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const [folder, list, level, rounds, out] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;

// Tensors for a session's inputs. The numbers mean nothing, but neither are they all alike.
function feedsOf(session, values) {
  const feeds = {};
  for (const { name, type, shape } of session.inputMetadata) {
    const count = shape.reduce((a, b) => a * b, 1);
    const below = Number((values.split(' ').find((one) => one.startsWith(`${name}=`)) || '=2').split('=')[1]);
    feeds[name] = type === 'int64'
      ? new ort.Tensor('int64', BigInt64Array.from({ length: count }, (_, i) => BigInt((i * 7919) % below)), shape)
      : new ort.Tensor('float32', Float32Array.from({ length: count }, (_, i) => Math.sin(i)), shape);
  }
  return feeds;
}

async function visit(file, inputValues) {
  const session = await ort.InferenceSession.create(file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    graphOptimizationLevel: level,
  });
  const feeds = feedsOf(session, inputValues);
  const begin = now();
  do await session.run(feeds);
  while (now() - begin < 50);
  const times = [];
  for (let spent = 0; times.length < 2 || (spent < 100 && times.length < 50); spent += times[times.length - 1]) {
    const start = now();
    await session.run(feeds);
    times.push(now() - start);
  }
  await session.release();
  times.sort((a, b) => a - b);
  const half = times.length >> 1;
  return [(times[half] + times[times.length - 1 - half]) / 2, times.length];
}

async function main() {
  if (!fs.existsSync(out)) fs.writeFileSync(out, 'network,round,latency_ms,runs,refused\n');
  const done = new Set(fs.readFileSync(out, 'utf8').split('\n').map((line) => line.split(',').slice(0, 2).join()));
  const networks = fs.readFileSync(list, 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
  for (let round = 1; round <= Number(rounds); ++round) {
    for (const [network, , values] of networks) {
      if (done.has(`${network},${round}`)) continue;
      let row;
      try {
        row = [...(await visit(path.join(folder, `${network}.onnx`), values)), ''];
      } catch (error) {
        row = ['', 0, error.message.replace(/[\s,"]+/g, ' ').slice(0, 120)];
      }
      fs.appendFileSync(out, `${[network, round, ...row].join()}\n`);
    }
  }
}

main();
