import type { DatasetSample } from "../../index.ts";

/** A dataset, which is a named list of problems. */
export interface Dataset {
  /** Name of the dataset, such as `gsm8k`, `hotpotqa`, or the name of a file. */
  readonly name: string;
  /** Readable name of the dataset split, such as `test` or `test, the shipped 20`. */
  readonly split: string;
  readonly samples: readonly DatasetSample[];
  /**
   * SHA-256 hash of the dataset files in hexadecimal. The problems that the package includes have no hash.
   */
  readonly sha256?: string;
}

/** Options that select problems from a dataset. */
interface SampleSelection {
  /** Maximum number of selected problems. Default: all problems. */
  readonly count?: number;
  /** Number of problems to skip before the first selected problem. Default: 0. */
  readonly offset?: number;
  /** IDs of the problems to select. */
  readonly ids?: readonly string[];
}

/**
 * Selects problems from a dataset and keeps their order. Throws a `RangeError` if the selection is empty or
 * contains an unknown problem ID.
 */
export function selectDatasetSamples(dataset: Dataset, { count, offset = 0, ids }: SampleSelection): Dataset {
  const wantedIds = ids && new Set(ids);
  const candidates = wantedIds ? dataset.samples.filter(({ id }) => wantedIds.has(id)) : dataset.samples;
  if (wantedIds && candidates.length < wantedIds.size) {
    const found = new Set(candidates.map(({ id }) => id));
    const missing = [...wantedIds].filter((id) => !found.has(id));
    throw new RangeError(
      `${dataset.name} (${dataset.split}) has no problem ${missing.join(", ")}. Its ids range from ${dataset.samples[0]?.id} to ${dataset.samples.at(-1)?.id}.`,
    );
  }
  const samples = candidates.slice(offset, count === undefined ? undefined : offset + count);
  if (samples.length === 0)
    throw new RangeError(
      `The offset ${offset} leaves none of ${candidates.length} problems. Use a smaller offset.`,
    );
  return { ...dataset, samples };
}
