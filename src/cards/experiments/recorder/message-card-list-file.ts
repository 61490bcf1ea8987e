import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listCardsInSpecificationFormat, type Recording } from "../../index.ts";
import { formatCardListFileName } from "../../index.ts";

/**
 * Writes the message cards of a run, in the format of the card specification, to
 * `<outputFolder>/<run_id>_cards.json`. Returns the path of the written file. Default of `outputFolder`:
 * `results`.
 */
export function writeMessageCardListFile(recording: Recording, outputFolder = "results"): string {
  const runId = recording.runId ?? "unknown";
  const file = join(outputFolder, formatCardListFileName(runId));
  mkdirSync(outputFolder, { recursive: true });
  // The file is renamed into place, so that a reader never sees an incomplete file.
  const temporary = `${file}.${randomUUID()}`;
  const cards = listCardsInSpecificationFormat(recording).map((card) => JSON.stringify(card));
  writeFileSync(temporary, cards.length > 0 ? `[\n${cards.join(",\n")}\n]\n` : "[]\n", { flag: "wx" });
  renameSync(temporary, file);
  return file;
}
