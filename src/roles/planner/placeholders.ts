/** A subtask that may speak of answers to others: `{s1}` stands for the answer to the subtask of that id. */
export interface Subtask {
  readonly id: string;
  readonly task: string;
  /** Titles or ids of documents that the solver is to be shown. */
  readonly documents?: readonly string[];
}

/** The ids of other subtasks that a text waits for: those of the batch that it names. */
export function listDependencies(task: string, ids: ReadonlySet<string>): string[] {
  const named = [...task.matchAll(PLACEHOLDER_PATTERN)].map(([, id = ""]) => id);
  return [...new Set(named)].filter((id) => ids.has(id));
}

/** What is wrong with a batch: an id twice, a placeholder for nobody, subtasks that wait for each other. */
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
    if (unresolved) return `subtask ${id} needs ${unresolved[0]}, and there is no such subtask`;
  }
  const remaining = new Map(batch.map(({ id, task }) => [id, listDependencies(task, ids)]));
  for (;;) {
    const ready = [...remaining].filter(([, others]) => !others.some((other) => remaining.has(other)));
    if (ready.length === 0) break;
    for (const [id] of ready) remaining.delete(id);
  }
  return remaining.size > 0
    ? `the subtasks ${[...remaining.keys()].join(", ")} wait for each other`
    : undefined;
}

/** The task with answers in the place of their ids; what names nobody stays as it is. */
export function fillPlaceholders(task: string, answers: ReadonlyMap<string, string>): string {
  return task.replaceAll(PLACEHOLDER_PATTERN, (whole, id: string) => answers.get(id) ?? whole);
}

const PLACEHOLDER_PATTERN = /\{([A-Za-z][\w-]*)\}/g;
/** As the prompt teaches ids. Other words in braces may be what the task is about. */
const SUBTASK_ID_PATTERN = /^s\d+$/;
