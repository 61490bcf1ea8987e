import type { DatasetSample } from "../../cards/index.ts";

/** A dataset: a named list of problems. */
export interface Dataset {
  /** Name of the dataset. */
  readonly name: DatasetSample["dataset"];
  /** Split of the dataset, for people: `test`, `test, the shipped 20`. */
  readonly split: string;
  readonly samples: readonly DatasetSample[];
  /** SHA-256 hash of the source files in hexadecimal. The shipped problems have no hash. */
  readonly sha256?: string;
}

/** Selection of problems from a dataset. */
interface SampleSelection {
  /** Number of problems. Default: all. */
  readonly count?: number;
  /** Number of problems to skip. Default: 0. */
  readonly offset?: number;
  /** Ids of the problems to keep. */
  readonly ids?: readonly string[];
}

/**
 * Selects problems of a dataset, in the order of the dataset. Throws a `RangeError` when the selection is
 * empty or an id is unknown.
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
