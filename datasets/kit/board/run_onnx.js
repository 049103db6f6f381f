#!/usr/bin/env node
// Times an ONNX model with ONNX Runtime on the CPU: node run_onnx.js MODEL RUNS WARMUP OUT.json [THREADS [SHAPE]]
// Writes {"format":"tenshot.times/1","times_ms":[...],"version":...}, one time per run after WARMUP untimed ones.
// --version prints ONNX Runtime's version. TENSHOT_NODE_MODULES names the folder that holds onnxruntime-node, unless
// Node finds it by itself; TENSHOT_OPTIMIZATION is all (unless said), extended, basic or disabled.
'use strict';
const fs = require('fs');
const path = require('path');

const folder = process.env.TENSHOT_NODE_MODULES;
const ort = require(folder ? path.resolve(folder, 'onnxruntime-node') : 'onnxruntime-node');
const version = ort.env.versions.node;

// The same values at every call: a linear congruential generator (Numerical Recipes, chapter 7.1), in [-1, 1).
function pseudoRandom(count) {
  const values = new Float32Array(count);
  let state = 1;
  for (let i = 0; i < count; ++i) {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    values[i] = state / 2 ** 31 - 1;
  }
  return values;
}

async function main(args) {
  if (args.length === 1 && args[0] === '--version') {
    console.log(version);
    return;
  }
  if (args.length < 4 || args.length > 6) {
    throw new Error('usage: node run_onnx.js MODEL RUNS WARMUP OUT.json [THREADS [SHAPE]]');
  }
  const [model, , , out, threads = '1', wantedShape] = args;
  const runs = Number(args[1]);
  const warmup = Number(args[2]);
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: process.env.TENSHOT_OPTIMIZATION || 'all',
  });
  // Earlier versions of the package do not tell the shape.
  const shape = wantedShape
    ? wantedShape.split('x').map(Number)
    : session.inputMetadata[0].shape.map((size) => (typeof size === 'number' ? size : 1));
  const count = shape.reduce((product, size) => product * size, 1);
  const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', pseudoRandom(count), shape) };

  const times = [];
  for (let run = 0; run < warmup + runs; ++run) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    const end = process.hrtime.bigint();
    if (run >= warmup) times.push(Number(end - start) / 1e6);
  }
  fs.writeFileSync(`${out}.new`, JSON.stringify({ format: 'tenshot.times/1', times_ms: times, version }));
  fs.renameSync(`${out}.new`, out);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
