const KEY_DIGITS = 32;

/** Returns the key that identifies a turn in all its attempts, such as `01a2066de57c737ea5d1a08f4b594439-1`. */
export function formatTurnIdempotencyKey(taskId: string, turnSeq: number): string {
  return `${taskId.replaceAll("-", "")}-${turnSeq}`;
}

/**
 * Resolves with the key that identifies a step in all attempts at its turn. No other turn or step has the key. The key
 * consists of 32 hexadecimal digits, which all known services accept.
 */
export async function createStepIdempotencyKey(
  taskId: string,
  turnSeq: number,
  stepKey: string,
): Promise<string> {
  const identity = new TextEncoder().encode(JSON.stringify([taskId, turnSeq, stepKey]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", identity));
  return [...digest]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .slice(0, KEY_DIGITS);
}
