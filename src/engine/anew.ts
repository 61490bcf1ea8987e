import { fold, isRefusal, snapshot, type Task, type TaskEvent } from "../protocol/index.ts";

/**
 * The artifacts of a turn that is restarted. An earlier attempt may have left a piece of each; so the first that this one
 * says of an artifact puts it back to how the turn found it, with that added.
 */
export class Anew {
  readonly #found: Task;
  readonly #begun = new Set<string>();

  /** `found`: the task as the turn found it. */
  constructor(found: Task) {
    this.#found = found;
  }

  /** The event as this attempt says it. */
  of(event: TaskEvent): TaskEvent {
    if (!("artifactUpdate" in event)) return event;
    const { append, ...update } = event.artifactUpdate;
    const { artifactId } = update.artifact;
    const isFirst = !this.#begun.has(artifactId);
    this.#begun.add(artifactId);
    if (!append || !isFirst) return event;
    const grown = fold(snapshot(this.#found), event);
    const artifact = isRefusal(grown)
      ? undefined
      : grown.artifacts?.find((one) => one.artifactId === artifactId);
    return artifact ? { artifactUpdate: { ...update, artifact } } : event;
  }
}
