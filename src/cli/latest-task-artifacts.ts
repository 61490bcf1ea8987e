import { ArtifactContentTracker } from "../protocol/index.ts";

/**
 * Tracks the artifact content of the task whose events arrive. Agents use the same artifact ids in other tasks, so each
 * task has its own tracker.
 */
export class LatestTaskArtifacts {
  #taskId: string | undefined;
  #tracker = new ArtifactContentTracker();

  /** Returns the tracker of a task, and forgets the previous task. */
  select(taskId: string | undefined): ArtifactContentTracker {
    if (taskId !== this.#taskId) this.#tracker = new ArtifactContentTracker();
    this.#taskId = taskId;
    return this.#tracker;
  }
}
