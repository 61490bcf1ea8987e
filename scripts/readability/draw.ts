/**
 * `npm run -s reading-test -- --seed HASH` draws 60 names and 60 sentences for people who have not read the code. Each
 * name is shown with its kind and folder only, each sentence alone. The same seed draws the same lists from the same tree.
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { listNamesDeclaredInProject, listProseSentencesInProject } from "./list-names-and-sentences.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "60" },
    answers: { type: "boolean", default: false },
  },
});
if (values.seed === undefined) {
  console.error("error: the draw needs a seed, for example --seed $(git rev-parse HEAD)");
  process.exit(2);
}
const readingTestSeed = values.seed;

/** Orders by a hash of the seed and the key, so a draw depends on nothing but the two. */
function drawSample<T>(population: readonly T[], subject: string, keyOf: (one: T) => string): T[] {
  const rank = (one: T): string =>
    createHash("sha256")
      .update(`${readingTestSeed}\n${subject}\n${keyOf(one)}`)
      .digest("hex");
  const ranked = population.map((one) => ({ one, rank: rank(one) }));
  return ranked
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, Number(values.count))
    .map(({ one }) => one);
}

const declaredNames = listNamesDeclaredInProject();
const proseSentences = listProseSentencesInProject();
console.log(
  `seed ${readingTestSeed}: from ${declaredNames.length} names and ${proseSentences.length} sentences\n\nNames`,
);
for (const [at, { name, kind, folder, file }] of drawSample(
  declaredNames,
  "names",
  (one) => `${one.file} ${one.name}`,
).entries())
  console.log(`${at + 1}. ${kind} \`${name}\` in ${folder}/${values.answers ? `  (${file})` : ""}`);
console.log("\nSentences");
for (const [at, { text, file }] of drawSample(
  proseSentences,
  "sentences",
  (one) => `${one.file} ${one.text}`,
).entries())
  console.log(`${at + 1}. ${text}${values.answers ? `  (${file})` : ""}`);
