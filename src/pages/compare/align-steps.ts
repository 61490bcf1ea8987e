import { diffArrays } from "diff";
import type { SequenceItem } from "../../trace/index.ts";

/** Two steps that correspond to each other, or a step of only one of the tasks. */
export interface AlignedStep {
  readonly first?: SequenceItem;
  readonly second?: SequenceItem;
  /** Whether both steps exist and have the same label. */
  readonly isEqual: boolean;
}

/**
 * Aligns the messages of two tasks. Messages with the same kind, parties, and label correspond to each other, if their
 * order is the same. A message that only one task has, and a message of the same kind at the same position of the other
 * task, form a changed pair.
 */
export function alignSteps(
  first: readonly SequenceItem[],
  second: readonly SequenceItem[],
): readonly AlignedStep[] {
  const aligned: AlignedStep[] = [];
  let [firstIndex, secondIndex] = [0, 0];
  let pending: SequenceItem[] = [];
  const flushPending = (): void => {
    for (const step of pending) aligned.push({ first: step, isEqual: false });
    pending = [];
  };
  for (const { added, removed, count } of diffArrays(first.map(formatStepKey), second.map(formatStepKey))) {
    if (removed) {
      pending = first.slice(firstIndex, firstIndex + count);
      firstIndex += count;
    } else if (added) {
      for (const step of second.slice(secondIndex, secondIndex + count)) {
        const [candidate] = pending;
        const isChange = candidate !== undefined && isSameExchange(candidate, step);
        if (isChange) pending.shift();
        aligned.push({ ...(isChange && { first: candidate }), second: step, isEqual: false });
      }
      secondIndex += count;
      flushPending();
    } else {
      flushPending();
      for (let at = 0; at < count; at++) {
        const [a, b] = [first[firstIndex + at], second[secondIndex + at]];
        aligned.push({ ...(a && { first: a }), ...(b && { second: b }), isEqual: true });
      }
      firstIndex += count;
      secondIndex += count;
    }
  }
  flushPending();
  return aligned;
}

function formatStepKey({ kind, from, to, label }: SequenceItem): string {
  return JSON.stringify([kind, from, to, label]);
}

function isSameExchange(a: SequenceItem, b: SequenceItem): boolean {
  return a.kind === b.kind && a.from === b.from && a.to === b.to;
}
