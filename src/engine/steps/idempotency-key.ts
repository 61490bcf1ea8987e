import { computeSha256Hex } from "../../base/data-structures/index.ts";

const KEY_DIGITS = 32;

/**
 * Returns a key that is the same in every attempt at a turn, and that no other turn or step has. `stepKey` is absent in
 * the key of the turn itself. The key consists of 32 hexadecimal digits, which all known services accept.
 */
export function createIdempotencyKey(taskId: string, turnSeq: number, stepKey?: string): string {
  const identity = stepKey === undefined ? [taskId, turnSeq] : [taskId, turnSeq, stepKey];
  return computeSha256Hex(JSON.stringify(identity)).slice(0, KEY_DIGITS);
}
