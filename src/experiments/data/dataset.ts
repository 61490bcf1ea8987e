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
export function selectDatasetSamples(
  dataset: Dataset,
  { count: n, offset = 0, ids }: SampleSelection,
): Dataset {
  const wanted = ids && new Set(ids);
  const known = wanted ? dataset.samples.filter(({ id }) => wanted.has(id)) : dataset.samples;
  if (wanted && known.length < wanted.size) {
    const found = new Set(known.map(({ id }) => id));
    const missing = [...wanted].filter((id) => !found.has(id));
    throw new RangeError(
      `${dataset.name} (${dataset.split}) has no ${missing.join(", ")}; it has ${dataset.samples[0]?.id} to ${dataset.samples.at(-1)?.id}.`,
    );
  }
  const samples = known.slice(offset, n === undefined ? undefined : offset + n);
  if (samples.length === 0)
    throw new RangeError(`There is no problem behind the first ${offset} of ${known.length}; begin earlier.`);
  return { ...dataset, samples };
}
