import { isIndex, malformed, recordsOf, type DataRecord } from "./record.ts";
import type { HotpotSample } from "./sample.ts";

/** Reads HotpotQA's distractor files: the official JSON list, or JSON Lines of the same records. */
export function decodeHotpotQa(text: string, file: string): HotpotSample[] {
  const samples = recordsOf(text, file).map(decodeSample);
  const ids = new Set<string>();
  for (const { id } of samples) {
    if (ids.has(id)) throw malformed(file, `two records are ${id}`);
    ids.add(id);
  }
  return samples;
}

function decodeSample(record: DataRecord, index: number): HotpotSample {
  const name = record.optionalIndex("dev_index") ?? record.optionalText("_id") ?? index;
  return {
    dataset: "hotpotqa",
    id: `hotpotqa_${name}`,
    question: record.text("question"),
    gold: record.text("answer"),
    type: record.optionalText("type"),
    level: record.optionalText("level"),
    paragraphs: record.pairs("context", isTexts).map(([title, sentences]) => ({ title, sentences })),
    supporting: record.pairs("supporting_facts", isIndex).map(([title, sentence]) => ({ title, sentence })),
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
