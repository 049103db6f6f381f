#!/usr/bin/env node
// How many nodes ONNX Runtime executes of every model of a kit, after its graph optimisations, without those that only
// change a layout: node optimised_nodes.js KIT NODE_MODULES > executed.json, as {"convolution__relu": 1, …}.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const [kit, modules] = process.argv.slice(2);
if (!modules) {
  console.error('usage: node optimised_nodes.js KIT NODE_MODULES');
  process.exit(2);
}
const ort = require(path.resolve(modules, 'onnxruntime-node'));

/// The fields of a protobuf message whose values have a length, with their numbers.
function* fields(bytes) {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = number();
    const kind = key & 7;
    if (kind === 0) number();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    else {
      const length = number();
      yield [key >>> 3, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}

const numbers = { graph: 7, node: 1, operation: 4 }; // of ModelProto, GraphProto and NodeProto in onnx.proto
const layout = new Set(['ReorderInput', 'ReorderOutput']);

function executed(model) {
  let count = 0;
  for (const [field, graph] of fields(model)) {
    if (field !== numbers.graph) continue;
    for (const [inner, node] of fields(graph)) {
      if (inner !== numbers.node) continue;
      const operation = [...fields(node)].find(([name]) => name === numbers.operation);
      count += operation && !layout.has(operation[1].toString()) ? 1 : 0;
    }
  }
  return count;
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'optimised-'));
  const optimised = path.join(folder, 'model.onnx');
  const counts = {};
  for (const model of JSON.parse(fs.readFileSync(path.join(kit, 'manifest.json'))).models) {
    const session = await ort.InferenceSession.create(path.join(kit, model.file), {
      executionProviders: ['cpu'],
      graphOptimizationLevel: 'all',
      optimizedModelFilePath: optimised,
      logSeverityLevel: 3,
    });
    await session.release();
    counts[model.architecture] = executed(fs.readFileSync(optimised));
  }
  fs.rmSync(folder, { recursive: true });
  process.stdout.write(`${JSON.stringify(counts, null, 1)}\n`);
}

main().catch((error) => {
  console.error(`optimised_nodes.js: ${error.message}`);
  process.exit(1);
});
