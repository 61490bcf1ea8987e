const MILLISECONDS_BY_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Largest delay of a timer of JavaScript, in milliseconds (24.8 days). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Parses the value of a `grpc-timeout` header. Returns the timeout in milliseconds, limited to the longest delay of a
 * timer. Returns `undefined` if the value is not a number of at most eight digits with a unit.
 */
export function parseGrpcTimeout(value: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  const unitMs = MILLISECONDS_BY_UNIT[unit];
  if (digits === undefined || unitMs === undefined) return undefined;
  return Math.min(Math.ceil(Number(digits) * unitMs), MAX_TIMER_MS);
}
