/** Returns a percentile of numbers, for example for 0.99. Without numbers, returns 0. */
export function computePercentile(numbers: readonly number[], fraction: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
}
