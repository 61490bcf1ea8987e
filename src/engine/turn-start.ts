import {
  copyTask,
  fold,
  isEventRefusal,
  type Message,
  type Task,
  type TaskEvent,
} from "../protocol/index.ts";

/** Size in characters of a new task without its message: its ids and its status. */
export const MAX_SIZE_OF_NEW_TASK = 400;

/**
 * Returns a copy of the task that contains the message of a new turn. `current` is the task before the message, or
 * `undefined` for a new task, whose status has the time `timestamp`.
 */
export function buildTaskWithTurnMessage(
  current: Task | undefined,
  { taskId, contextId }: { readonly taskId: string; readonly contextId: string },
  message: Message,
  timestamp: string,
): Task {
  if (!current) {
    const status = { state: "TASK_STATE_SUBMITTED", timestamp } as const;
    return { id: taskId, contextId, status, history: [message] };
  }
  // A finished task refuses the message, and `fold` does not change the task.
  const changed = fold(current, { message });
  return isEventRefusal(changed) ? current : changed;
}

/**
 * Rewrites the artifact events of a restarted turn. An earlier attempt may have left partial artifacts in
 * the task. The first event for an artifact therefore restores the artifact's content from the start of the
 * turn and adds the new parts.
 */
export class RestartedTurnArtifactRewriter {
  readonly #initialTask: Task;
  readonly #seenArtifactIds = new Set<string>();

  /** `initialTask` is the task at the start of the turn. */
  constructor(initialTask: Task) {
    this.#initialTask = initialTask;
  }

  /** Returns the event to store for the current attempt at the turn. */
  rewriteArtifactEvent(event: TaskEvent): TaskEvent {
    if (!("artifactUpdate" in event)) return event;
    const { append, ...update } = event.artifactUpdate;
    const { artifactId } = update.artifact;
    const isFirst = !this.#seenArtifactIds.has(artifactId);
    this.#seenArtifactIds.add(artifactId);
    if (!append || !isFirst) return event;
    const grown = fold(copyTask(this.#initialTask), event);
    const artifact = isEventRefusal(grown)
      ? undefined
      : grown.artifacts?.find((one) => one.artifactId === artifactId);
    return artifact ? { artifactUpdate: { ...update, artifact } } : event;
  }
}
