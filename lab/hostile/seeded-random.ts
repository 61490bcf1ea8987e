import { createHash } from "node:crypto";
import { createSeededRandom } from "../../src/cards/roles/models/faulty-model.ts";

/** Returns a function that returns pseudorandom numbers from 0 to 1, which depend only on the text. */
export function createRandomFromText(seed: string): () => number {
  return createSeededRandom(createHash("sha256").update(seed).digest().readUInt32LE());
}
