// A system in another language: counts how many distinct words of a question a document has.
const fs = require("fs");
const lines = require("readline").createInterface({ input: process.stdin });
const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []);
let documents = null;
let depth = 0;
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.protocol) {
    depth = message.depth;
    documents = fs.readFileSync(message.corpus, "utf8").trim().split("\n").map((one) => JSON.parse(one));
    for (const one of documents) one.words = words(one.text);
    return;
  }
  const asked = words(message.text);
  const found = documents
    .filter((one) => one.partition === message.partition)
    .map((one) => ({ id: one.id, score: [...asked].filter((word) => one.words.has(word)).length }))
    .filter((one) => one.score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, depth);
  console.log(JSON.stringify({
    question: message.question, documents: found.map((one) => one.id), scores: found.map((one) => one.score),
  }));
});
