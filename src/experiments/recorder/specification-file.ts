import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toSpecificationCards, type Recording } from "../../cards/index.ts";
import { formatSpecificationFileName } from "../../cards/index.ts";

/**
 * Writes the cards of a run as the specification has them: `<out>/<dataset>_a2a_<model>_cards.json`, a list of cards, one
 * on a line. Answers the name of the file. `out` is `results` unless told.
 */
export function writeSpecificationFile(recording: Recording, outputFolder = "results"): string {
  const file = join(outputFolder, formatSpecificationFileName(recording));
  mkdirSync(outputFolder, { recursive: true });
  // At once or not at all: somebody may be reading it.
  const temporary = `${file}.${randomUUID()}`;
  const cards = toSpecificationCards(recording).map((card) => JSON.stringify(card));
  writeFileSync(temporary, cards.length > 0 ? `[\n${cards.join(",\n")}\n]\n` : "[]\n", { flag: "wx" });
  renameSync(temporary, file);
  return file;
}
