/** One request of the probe client. Times are those of the clock of the probe process, in milliseconds. */
export interface ProbeSample {
  readonly endedAt: number;
  /** Time from the moment when the request was due. */
  readonly latencyMs: number;
  /** The unexpected response, if the request failed. */
  readonly problem?: string;
}

/**
 * Returns by how many milliseconds the slowest request to the target exceeded the slowest simultaneous request to the
 * idle control server. The subtraction removes delays of the machine, which delay requests to both servers.
 */
export function computeExcessStall(target: readonly ProbeSample[], control: readonly ProbeSample[]): number {
  let worst = 0;
  for (const { endedAt, latencyMs } of target) {
    if (latencyMs <= worst) continue;
    const startedAt = endedAt - latencyMs;
    const noise = control
      .filter((sample) => sample.endedAt >= startedAt && sample.endedAt - sample.latencyMs <= endedAt)
      .reduce((most, sample) => Math.max(most, sample.latencyMs), 0);
    worst = Math.max(worst, latencyMs - noise);
  }
  return worst;
}

/** Returns a percentile of the latencies, for example for 0.99. Without samples, returns 0. */
export function computeLatencyPercentile(samples: readonly ProbeSample[], fraction: number): number {
  const sorted = samples.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
}
