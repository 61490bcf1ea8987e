const whole = new Intl.NumberFormat("en-US");

/** 12,345 */
export function count(value: number): string {
  return whole.format(value);
}

/** 1 card, 12 cards */
export function some(value: number, one: string, more = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : more}`;
}

/** 820 ms, 1.4 s, 3 min 20 s */
export function duration(ms: number): string {
  if (ms < 0) return `−${duration(-ms)}`;
  if (ms < 1_000) return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms - minutes * 60_000) / 1_000)} s`;
}

/** 99.2 % */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** What stands behind the answers, in plain words. */
export const EVIDENCE: Readonly<Record<string, string>> = {
  "live-model": "a live model answered",
  "recorded-model": "answers of a model, recorded earlier",
  oracle: "says nothing of a model: the answers come from the dataset",
  simulated: "says nothing of a model: the answers are scripted",
  heuristic: "says nothing of a model: rules answered, no model did",
};
