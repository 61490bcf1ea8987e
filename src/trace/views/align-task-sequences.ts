import type { TrafficModel } from "../model/traffic-model.ts";
import { buildTrafficSequence, type SequenceItem } from "../model/traffic-sequence.ts";
import type { TrafficTask } from "../model/traffic-task.ts";

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
  const childrenByParent = Map.groupBy(model.tasks.keys(), (key) => model.findParentTaskKey(key));
  // A set also contains the keys that are added while it is read, and each key once.
  const family = new Set([task.key]);
  for (const key of family) for (const child of childrenByParent.get(key) ?? []) family.add(child);
  return buildTrafficSequence(model, family).items;
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
  const [a, b] = [first.slice(0, MAX_ALIGNED_MESSAGES), second.slice(0, MAX_ALIGNED_MESSAGES)];
  const aligned: AlignedMessages[] = [];
  let [nextA, nextB] = [0, 0];
  for (const [atA, atB] of findCommonSubsequence(a.map(formatKey), b.map(formatKey))) {
    aligned.push(...pairChanges(a.slice(nextA, atA), b.slice(nextB, atB)));
    const [one, other] = [a[atA], b[atB]];
    if (one && other) aligned.push({ first: one, second: other, isEqual: true });
    [nextA, nextB] = [atA + 1, atB + 1];
  }
  return [...aligned, ...pairChanges(a.slice(nextA), b.slice(nextB))];
}

/** Pairs the messages between two equal messages. */
function pairChanges(removed: readonly SequenceItem[], added: readonly SequenceItem[]): AlignedMessages[] {
  const pairs: AlignedMessages[] = [];
  let next = 0;
  for (const second of added) {
    const first = removed[next];
    const isChange = first !== undefined && isSameExchange(first, second);
    if (isChange) next++;
    pairs.push({ ...(isChange && { first }), second, isEqual: false });
  }
  return [...pairs, ...removed.slice(next).map((first) => ({ first, isEqual: false }))];
}

/** Returns the positions of a longest common subsequence of two lists, as pairs in ascending order. */
function findCommonSubsequence(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  const width = b.length + 1;
  /** Lengths of the longest common subsequences of the rests of both lists. */
  const lengths = new Uint16Array((a.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

function formatKey({ kind, from, to, label }: SequenceItem): string {
  return JSON.stringify([kind, from, to, label]);
}

function isSameExchange(a: SequenceItem, b: SequenceItem): boolean {
  return a.kind === b.kind && a.from === b.from && a.to === b.to;
}
