const integerFormat = new Intl.NumberFormat("en-US");

/** 12,345 */
export function formatCount(value: number): string {
  return integerFormat.format(value);
}

/** 1 card, 12 cards */
export function pluralize(value: number, one: string, more = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : more}`;
}

/** 820 ms, 1.4 s, 3 min 20 s */
export function formatDuration(ms: number): string {
  if (ms < 0) return `−${formatDuration(-ms)}`;
  if (ms < 1_000) return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms - minutes * 60_000) / 1_000)} s`;
}

/** Formats the ID of a problem, or a label for cards without a problem. */
export function formatSampleId(id: string): string {
  return id === "" ? "(no problem)" : id;
}

/** 99.2 % */
export function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** What stands behind the answers, in plain words. */
export const EVIDENCE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "live-model": "a live model answered",
  "recorded-model": "answers of a model, recorded earlier",
  oracle: "says nothing of a model: the answers come from the dataset",
  simulated: "says nothing of a model: the answers are scripted",
  heuristic: "says nothing of a model: rules answered, no model did",
};
