// node infer_onnx.js JOBS.json: runs each {"model", "input", "shape", "output"} of the list once with ONNX Runtime;
// input and output are files of 32-bit floats; of several outputs, one after the other.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require(path.resolve(process.env.TENSHOT_NODE_MODULES, 'onnxruntime-node'));

async function main() {
  for (const job of JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))) {
    const bytes = fs.readFileSync(job.input);
    const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const session = await ort.InferenceSession.create(job.model, { intraOpNumThreads: 1 });
    const result = await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', values, job.shape) });
    fs.writeFileSync(job.output, Buffer.concat(session.outputNames.map((name) => {
      const output = result[name].data;
      return Buffer.from(output.buffer, output.byteOffset, output.byteLength);
    })));
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
