import type { DatasetSample } from "../../cards/index.ts";

/** Problems to be solved, of one kind. */
export interface Dataset {
  readonly name: DatasetSample["dataset"];
  /** Which part of it, for people: `test`, `test, the shipped 20`. */
  readonly split: string;
  readonly samples: readonly DatasetSample[];
  /** Of the files that they were read from, in hexadecimal; missing for what is shipped. */
  readonly sha256?: string;
}

export interface SampleSelection {
  /** How many. Default: all. */
  readonly count?: number;
  /** How many are left out before them. Default 0. */
  readonly offset?: number;
  /** These alone, by their ids. */
  readonly ids?: readonly string[];
}

/** A part of a dataset, in its order. Throws RangeError when that part is empty, or an id is of none of its problems. */
export function selectDatasetSamples(dataset: Dataset, { count, offset = 0, ids }: SampleSelection): Dataset {
  const wantedIds = ids && new Set(ids);
  const candidates = wantedIds ? dataset.samples.filter(({ id }) => wantedIds.has(id)) : dataset.samples;
  if (wantedIds && candidates.length < wantedIds.size) {
    const found = new Set(candidates.map(({ id }) => id));
    const missing = [...wantedIds].filter((id) => !found.has(id));
    throw new RangeError(
      `${dataset.name} (${dataset.split}) has no ${missing.join(", ")}; it has ${dataset.samples[0]?.id} to ${dataset.samples.at(-1)?.id}.`,
    );
  }
  const samples = candidates.slice(offset, count === undefined ? undefined : offset + count);
  if (samples.length === 0)
    throw new RangeError(
      `There is no problem behind the first ${offset} of ${candidates.length}; begin earlier.`,
    );
  return { ...dataset, samples };
}
