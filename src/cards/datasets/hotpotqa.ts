import {
  isNonNegativeInteger,
  isStringArray,
  createMalformedDataError,
  decodeJsonRecords,
  type DataRecord,
} from "./data-record.ts";
import type { HotpotQaSample } from "./dataset-sample.ts";

/**
 * Parses a HotpotQA file for the distractor setting. The file contains either the official JSON array or the
 * same records as JSON Lines.
 */
export function decodeHotpotQa(text: string, file: string): HotpotQaSample[] {
  const samples = decodeJsonRecords(text, file).map(decodeHotpotSample);
  const ids = new Set<string>();
  for (const { id } of samples) {
    if (ids.has(id)) throw createMalformedDataError(file, `two records have the ID ${id}`);
    ids.add(id);
  }
  return samples;
}

function decodeHotpotSample(record: DataRecord, index: number): HotpotQaSample {
  const name = record.has("dev_index")
    ? record.get("dev_index", isNonNegativeInteger, "a non-negative integer")
    : (record.getOptionalString("_id") ?? index);
  return {
    dataset: "hotpotqa",
    id: `hotpotqa_${name}`,
    question: record.getString("question"),
    gold: record.getString("answer"),
    type: record.getOptionalString("type"),
    level: record.getOptionalString("level"),
    paragraphs: record
      .getPairArray("context", isStringArray)
      .map(([title, sentences]) => ({ title, sentences })),
    supportingFacts: record
      .getPairArray("supporting_facts", isNonNegativeInteger)
      .map(([title, sentence]) => ({ title, sentence })),
  };
}
