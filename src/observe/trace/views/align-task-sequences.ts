import type { TrafficModel } from "../model/traffic-model.ts";
import { buildTrafficSequence, type SequenceItem } from "../model/traffic-sequence.ts";
import type { TrafficTask } from "../model/traffic-task.ts";
import { listTaskFamily } from "./render-record-text.ts";

/** Largest number of messages of a task that are aligned. The time grows with the product of both numbers. */
export const MAX_ALIGNED_MESSAGES = 3_000;

/** Two messages that correspond to each other, or a message of only one of the tasks. */
export interface AlignedMessages {
  readonly first?: SequenceItem;
  readonly second?: SequenceItem;
  /** Whether both messages exist and have the same label. */
  readonly isEqual: boolean;
}

/** Returns the messages of a task, and of all tasks that it started, in the order of time. */
export function listTaskSequence(model: TrafficModel, task: TrafficTask): readonly SequenceItem[] {
  return buildTrafficSequence(model, new Set(listTaskFamily(model, task).map(({ key }) => key))).items;
}

/**
 * Aligns the messages of two tasks. Messages with the same kind, parties, and label correspond to each other, if their
 * order is the same. A message that only one task has, and a message of the same kind at the same position of the other
 * task, form a changed pair. Considers the first 3,000 messages of each task.
 */
export function alignTaskSequences(
  first: readonly SequenceItem[],
  second: readonly SequenceItem[],
): readonly AlignedMessages[] {
  const [a, b] = [first, second].map((items) => items.slice(0, MAX_ALIGNED_MESSAGES)) as [
    SequenceItem[],
    SequenceItem[],
  ];
  const [keysA, keysB] = [a.map(formatKey), b.map(formatKey)];
  const countCommon = createCommonCounter(keysA, keysB);
  const aligned: AlignedMessages[] = [];
  let removed: SequenceItem[] = [];
  let at = 0;
  const flushRemoved = (): void => {
    for (const item of removed) aligned.push({ first: item, isEqual: false });
    removed = [];
  };
  for (const [position, item] of b.entries()) {
    // Messages that the second task lacks precede the next common message.
    while (
      at < a.length &&
      keysA[at] !== keysB[position] &&
      countCommon(at + 1, position) === countCommon(at, position)
    )
      removed.push(a[at++] as SequenceItem);
    if (keysA[at] === keysB[position]) {
      flushRemoved();
      aligned.push({ first: a[at++] as SequenceItem, second: item, isEqual: true });
      continue;
    }
    const [candidate] = removed;
    const isChange =
      candidate?.kind === item.kind && candidate.from === item.from && candidate.to === item.to;
    if (isChange) removed.shift();
    aligned.push({ ...(isChange && { first: candidate }), second: item, isEqual: false });
  }
  removed.push(...a.slice(at));
  flushRemoved();
  return aligned;
}

/** Returns a function that counts the common elements of both lists from two positions on, in the same order. */
function createCommonCounter(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const counts = new Uint16Array((a.length + 1) * width);
  const count = (i: number, j: number): number => counts[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      counts[i * width + j] =
        a[i] === b[j] ? count(i + 1, j + 1) + 1 : Math.max(count(i + 1, j), count(i, j + 1));
  return count;
}

function formatKey({ kind, from, to, label }: SequenceItem): string {
  return JSON.stringify([kind, from, to, label]);
}
