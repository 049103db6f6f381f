#!/usr/bin/env node
// Times an ONNX model with ONNX Runtime on the CPU: node run_onnx.js MODEL RUNS WARMUP OUT.json [THREADS [SHAPES]]
// SHAPES is 1x3x32x32, or of several inputs and other types int64:1x128,int64:1x128, in the model's order.
// TENSHOT_COLD=1 times one cold start in place of runs, from the model's file to the first output, and writes
// {"format":"tenshot.cold-start/1","cold_ms":...,"load_ms":...,"prepare_ms":...,"first_ms":...,"warm_ms":...}.
// Writes {"format":"tenshot.times/1","times_ms":[...],"version":...}, one time per run after WARMUP untimed ones.
// TENSHOT_PROFILE names a file that gets ONNX Runtime's profile of the runs.
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

const arrayOf = {
  float32: (count) => pseudoRandom(count),
  float64: (count) => Float64Array.from(pseudoRandom(count)),
  float16: (count) => new Uint16Array(count).fill(0x3800), // 0.5
  int8: (count) => new Int8Array(count).fill(1),
  uint8: (count) => new Uint8Array(count).fill(1),
  int16: (count) => new Int16Array(count).fill(1),
  uint16: (count) => new Uint16Array(count).fill(1),
  int32: (count) => new Int32Array(count).fill(1),
  uint32: (count) => new Uint32Array(count).fill(1),
  int64: (count) => new BigInt64Array(count).fill(1n),
  uint64: (count) => new BigUint64Array(count).fill(1n),
  bool: (count) => new Uint8Array(count).fill(1),
};

// A tensor for each input: random floats, and whole numbers 1, which are a token, a position and an open mask.
function feedsOf(session, shapes) {
  // Earlier versions of the package do not tell the shape.
  const wanted = shapes
    ? shapes.split(',')
    : session.inputMetadata.map((one) => one.shape.map((size) => (typeof size === 'number' ? size : 1)).join('x'));
  if (wanted.length !== session.inputNames.length) {
    throw new Error(`the model takes ${session.inputNames.length} inputs, and the list has ${wanted.length} shapes`);
  }
  return Object.fromEntries(
    wanted.map((text, i) => {
      const [type, extents] = text.includes(':') ? text.split(':') : ['float32', text];
      const shape = extents.split('x').map(Number);
      const count = shape.reduce((product, size) => product * size, 1);
      return [session.inputNames[i], new ort.Tensor(type, arrayOf[type](count), shape)];
    }),
  );
}

async function main(args) {
  if (args.length === 1 && args[0] === '--version') {
    console.log(version);
    return;
  }
  if (args.length < 4 || args.length > 6) {
    throw new Error('usage: node run_onnx.js MODEL RUNS WARMUP OUT.json [THREADS [SHAPES]]');
  }
  const [model, , , out, threads = '1', shapes] = args;
  const runs = Number(args[1]);
  const warmup = Number(args[2]);
  const settings = {
    executionProviders: ['cpu'],
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: process.env.TENSHOT_OPTIMIZATION || 'all',
  };
  const profile = process.env.TENSHOT_PROFILE;
  if (profile) Object.assign(settings, { enableProfiling: true, profileFilePrefix: `${profile}.ort` });
  const cold = process.env.TENSHOT_COLD === '1';
  const now = () => Number(process.hrtime.bigint()) / 1e6;
  const begin = now();
  const bytes = cold ? fs.readFileSync(model) : null;
  const loaded = now();
  const session = await ort.InferenceSession.create(cold ? bytes : model, settings);
  const prepared = now();
  const feeds = feedsOf(session, shapes);
  const write = (result) => {
    fs.writeFileSync(`${out}.new`, JSON.stringify({ ...result, version }));
    fs.renameSync(`${out}.new`, out);
  };

  if (cold) {
    const fed = now();
    await session.run(feeds);
    const first = now();
    const warm = [];
    for (let run = 0; run < runs; ++run) {
      const start = now();
      await session.run(feeds);
      warm.push(now() - start);
    }
    warm.sort((a, b) => a - b);
    write({
      format: 'tenshot.cold-start/1',
      cold_ms: prepared - begin + (first - fed),
      load_ms: loaded - begin,
      prepare_ms: prepared - loaded,
      first_ms: first - fed,
      warm_ms: warm.length ? warm[warm.length >> 1] : null,
    });
    return;
  }
  const times = [];
  for (let run = 0; run < warmup + runs; ++run) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    const end = process.hrtime.bigint();
    if (run >= warmup) times.push(Number(end - start) / 1e6);
  }
  if (profile) {
    session.endProfiling();
    const folder = path.dirname(profile);
    const [written] = fs.readdirSync(folder).filter((name) => name.startsWith(`${path.basename(profile)}.ort`));
    fs.renameSync(path.join(folder, written), profile);
  }
  write({ format: 'tenshot.times/1', times_ms: times });
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
