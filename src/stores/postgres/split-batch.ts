import type { LogAppend } from "../../engine/index.ts";
import { getScopeKey } from "../task-owner-scope-key.ts";

/** An append, and its position in the batch. */
export interface NumberedAppend {
  readonly ordinal: number;
  readonly append: LogAppend;
}

/**
 * Splits a batch into the smallest number of groups that a statement can commit. A statement reads only rows from
 * before its start, so two appends to one task, or with one message, are in different groups. Their order is kept. A
 * usual batch is one group.
 */
export function splitBatch(batch: readonly NumberedAppend[]): NumberedAppend[][] {
  const groups: NumberedAppend[][] = [];
  const nextGroups = new Map<string, number>();
  for (const numbered of batch) {
    const { scope, taskId, messages } = numbered.append;
    const scopeKey = getScopeKey(scope);
    const names = [
      `task ${taskId} ${scopeKey}`,
      ...messages.map(({ messageId }) => `message ${messageId} ${scopeKey}`),
    ];
    const at = Math.max(...names.map((name) => nextGroups.get(name) ?? 0));
    for (const name of names) nextGroups.set(name, at + 1);
    (groups[at] ??= []).push(numbered);
  }
  return groups;
}

/** Returns true if an append registers a message id more than once. */
export function hasRepeatedMessage({ messages }: LogAppend): boolean {
  const ids = messages.filter(({ wasQueued }) => !wasQueued).map(({ messageId }) => messageId);
  return new Set(ids).size < ids.length;
}
