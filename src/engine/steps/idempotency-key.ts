import { createHash } from "node:crypto";

const KEY_DIGITS = 32;

/**
 * Returns a key that is the same in every attempt at a turn, and that no other turn or step has. `stepKey` is absent in
 * the key of the turn itself. The key consists of 32 hexadecimal digits, which all known services accept.
 */
export function createIdempotencyKey(taskId: string, turnSeq: number, stepKey?: string): string {
  const identity = JSON.stringify(stepKey === undefined ? [taskId, turnSeq] : [taskId, turnSeq, stepKey]);
  return createHash("sha256").update(identity).digest("hex").slice(0, KEY_DIGITS);
}
