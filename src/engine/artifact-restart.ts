import { fold, isEventRefusal, copyTask, type Task, type TaskEvent } from "../protocol/index.ts";

/**
 * The artifacts of a turn that is restarted. An earlier attempt may have left a piece of each; so the first that this one
 * says of an artifact puts it back to how the turn found it, with that added.
 */
export class ArtifactRestart {
  readonly #initialTask: Task;
  readonly #seenArtifactIds = new Set<string>();

  /** `found`: the task as the turn found it. */
  constructor(found: Task) {
    this.#initialTask = found;
  }

  /** The event as this attempt says it. */
  rewriteEvent(event: TaskEvent): TaskEvent {
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
