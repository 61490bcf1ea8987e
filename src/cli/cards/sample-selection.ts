import { Option } from "commander";
import { type Recording, type RunSample, collectRunSamples } from "../../cards/index.ts";
import { createUsageError } from "../cli-error.ts";

export interface SampleOptions {
  sample?: string;
}

export function createSampleOption(): Option {
  return new Option("--sample <id>", "one problem of the run, for example gsm8k_0");
}

/** The problems of a run that have any card; the one that was asked for, when one was. */
export function selectSamples(recording: Recording, id: string | undefined): RunSample[] {
  const samples = collectRunSamples(recording).filter(({ cards }) => cards.length > 0);
  const found = id === undefined ? samples : samples.filter((sample) => sample.id === id);
  if (found.length > 0) return found;
  throw createUsageError(id === undefined ? "There is no card in it." : `There is no card of a problem ${id} in it.`,
    samples.length > 0 ? `There are ${formatSampleIds(samples)}.` : undefined,
  );
}

/** The only problem of them, for what draws one. */
export function requireSingleSample(samples: readonly RunSample[]): RunSample {
  const [only] = samples;
  if (only && samples.length === 1) return only;
  throw createUsageError(`This is drawn of one problem, and there are ${samples.length}.`,
    `Name one with --sample: ${formatSampleIds(samples)}.`,
  );
}

/** What a recording has of these problems alone. */
export function filterRecording(recording: Recording, samples: readonly RunSample[]): Recording {
  return {
    ...recording,
    cards: samples.flatMap(({ cardLines: lines }) => lines).toSorted((a, b) => a.mono_ms - b.mono_ms),
    calls: samples.flatMap(({ calls }) => calls).toSorted((a, b) => a.mono_ms - b.mono_ms),
    scores: samples.flatMap(({ score }) => score ?? []),
  };
}

function formatSampleIds(samples: readonly RunSample[]): string {
  const names = samples.slice(0, 5).map(({ id }) => id ?? "cards without one");
  return samples.length > 5 ? `${names.join(", ")} and ${samples.length - 5} more` : names.join(", ");
}
