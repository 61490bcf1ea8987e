import { fold, isEventRefusal, copyTask, type Task, type TaskEvent } from "../protocol/index.ts";

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
