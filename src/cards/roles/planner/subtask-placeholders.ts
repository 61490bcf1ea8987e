/**
 * A subtask that a planner assigns to a solver. The text of a subtask can contain placeholders for answers to
 * other subtasks, such as `{s1}`.
 */
export interface Subtask {
  readonly id: string;
  readonly task: string;
  /** Titles or ids of the documents that the solver receives. */
  readonly documents?: readonly string[];
}

/** Returns the ids of the subtasks that a text refers to. */
export function listSubtaskDependencies(task: string, ids: ReadonlySet<string>): string[] {
  const named = [...task.matchAll(PLACEHOLDER_PATTERN)].map(([, id = ""]) => id);
  return [...new Set(named)].filter((id) => ids.has(id));
}

/**
 * Returns a description of the first error in a batch of subtasks, for example a duplicate id or a cycle.
 * Returns `undefined` for a valid batch of subtasks.
 */
export function findDependencyProblem(
  batch: readonly Subtask[],
  known: ReadonlySet<string>,
): string | undefined {
  const ids = new Set(batch.map(({ id }) => id));
  if (ids.size < batch.length) return "two subtasks have the same id";
  for (const { id, task } of batch) {
    const unresolved = [...task.matchAll(PLACEHOLDER_PATTERN)].find(
      ([, name = ""]) => SUBTASK_ID_PATTERN.test(name) && !ids.has(name) && !known.has(name),
    );
    if (unresolved) return `subtask ${id} refers to ${unresolved[0]}, but no subtask has this id`;
  }
  const remaining = new Map(batch.map(({ id, task }) => [id, listSubtaskDependencies(task, ids)]));
  for (;;) {
    const ready = [...remaining].filter(([, others]) => !others.some((other) => remaining.has(other)));
    if (ready.length === 0) break;
    for (const [id] of ready) remaining.delete(id);
  }
  return remaining.size > 0
    ? `the subtasks ${[...remaining.keys()].join(", ")} depend on each other`
    : undefined;
}

/** Replaces placeholders in a subtask with answers. Placeholders stay unchanged if no answer exists. */
export function fillPlaceholders(task: string, answers: ReadonlyMap<string, string>): string {
  return task.replaceAll(PLACEHOLDER_PATTERN, (whole, id: string) => answers.get(id) ?? whole);
}

const PLACEHOLDER_PATTERN = /\{([A-Za-z][\w-]*)\}/g;
/**
 * Pattern of subtask ids, which matches the format that the prompt specifies. Other words in braces can occur
 * in a problem and are not placeholders.
 */
const SUBTASK_ID_PATTERN = /^s\d+$/;
