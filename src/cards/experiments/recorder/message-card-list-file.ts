import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Recording, toJson } from "../../index.ts";

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
  const cards = recording.cards.map((card) => toJson(card));
  writeFileSync(temporary, cards.length > 0 ? `[\n${cards.join(",\n")}\n]\n` : "[]\n", { flag: "wx" });
  renameSync(temporary, file);
  return file;
}

/**
 * Returns the name of the file with a run's message cards, such as `gsm8k_a2a_claude_cards.json` for the run
 * `gsm8k_a2a_claude`. The name contains the run ID, so that no run replaces the file of another run.
 */
export function formatCardListFileName(runId: string): string {
  return `${runId}_cards.json`;
}
