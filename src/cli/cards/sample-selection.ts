import { Option } from "commander";
import { type Recording, type RecordedSample } from "../../cards/index.ts";
import { createUsageError } from "../cli-error.ts";

export interface SampleSelectionOptions {
  sample?: string;
}

export function createSampleOption(): Option {
  return new Option("--sample <id>", "one problem of the run, for example gsm8k_0");
}

/** Returns the problem with the given id. Without an id, returns all problems that have message cards. */
export function selectRecordedSamples(recording: Recording, id: string | undefined): RecordedSample[] {
  const samples = recording.samples.filter(({ cards }) => cards.length > 0);
  const found = id === undefined ? samples : samples.filter((sample) => sample.id === id);
  if (found.length > 0) return found;
  throw createUsageError(
    id === undefined ? "The run has no message cards." : `The run has no message cards for problem ${id}.`,
    samples.length > 0 ? `Available problems: ${formatSampleIds(samples)}.` : undefined,
  );
}

/**
 * Returns the only problem of a run, or throws if the run has several problems. A diagram can show only one
 * problem.
 */
export function requireSingleSample(samples: readonly RecordedSample[]): RecordedSample {
  const [only] = samples;
  if (only && samples.length === 1) return only;
  throw createUsageError(
    `This output shows a single problem, but the run has ${samples.length}.`,
    `Select one with --sample: ${formatSampleIds(samples)}.`,
  );
}

/** Returns a copy of a recording with only the given problems. */
export function filterRecording(recording: Recording, samples: readonly RecordedSample[]): Recording {
  const { runId, run, ends, abandoned, torn } = recording;
  const selected = new Set(samples.flatMap(({ cards }) => cards));
  return {
    runId,
    run,
    samples,
    cards: recording.cards.filter((card) => selected.has(card)),
    calls: samples.flatMap(({ calls }) => calls),
    scores: samples.flatMap(({ score }) => score ?? []),
    skips: samples.flatMap(({ skip }) => skip ?? []),
    finishedSampleIds: recording.finishedSampleIds,
    ends,
    abandoned,
    torn,
  };
}

function formatSampleIds(samples: readonly RecordedSample[]): string {
  const names = samples.slice(0, 5).map(({ id }) => id ?? "cards without one");
  return samples.length > 5 ? `${names.join(", ")} and ${samples.length - 5} more` : names.join(", ");
}
