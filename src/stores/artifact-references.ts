import type { ArtifactReference } from "../engine/index.ts";
import { A2AError, foldArtifact, type Artifact, type LogEvent, type Task } from "../protocol/index.ts";
import { isArtifactEventText } from "./to-log-rows.ts";

/** Returns the task without the content of the referenced artifacts, for storage as a snapshot. */
export function omitReferencedContent(task: Task, references: readonly ArtifactReference[]): Task {
  if (!task.artifacts || references.length === 0) return task;
  const artifacts = task.artifacts.slice();
  for (const { artifactId } of references) {
    const at = findArtifactPosition(artifacts, artifactId);
    const artifact = artifacts[at];
    if (artifact) artifacts[at] = { artifactId, parts: [] };
  }
  return { ...task, artifacts };
}

/**
 * Restores the referenced artifacts of a snapshot in place. `events` must contain the events from the first
 * referenced event to the snapshot. Other events are ignored. Throws `INTERNAL` if an artifact has no events.
 */
export function restoreReferencedContent(
  task: Task,
  references: readonly ArtifactReference[],
  events: Iterable<LogEvent>,
): void {
  const fromSeqById = new Map(references.map(({ artifactId, fromSeq }) => [artifactId, fromSeq]));
  const restored = new Map<string, Artifact>();
  for (const { seq, event } of events) {
    if ("artifactUpdate" in event) {
      const { artifactUpdate: update } = event;
      const { artifactId } = update.artifact;
      if (seq >= (fromSeqById.get(artifactId) ?? Infinity))
        restored.set(artifactId, foldArtifact(restored.get(artifactId), update));
    } else if ("task" in event) {
      // The first event of a task can contain artifacts.
      for (const artifact of event.task.artifacts ?? [])
        if (fromSeqById.get(artifact.artifactId) === seq)
          restored.set(artifact.artifactId, { ...artifact, parts: artifact.parts.slice() });
    }
  }
  const artifacts = task.artifacts ?? [];
  for (const { artifactId, fromSeq } of references) {
    const artifact = restored.get(artifactId);
    if (!artifact) {
      const text = `The log of task ${task.id} is corrupt: the events of artifact ${artifactId} from ${fromSeq} on are missing. Restore the store from a backup.`;
      throw new A2AError("INTERNAL", text);
    }
    artifacts[findArtifactPosition(artifacts, artifactId)] = artifact;
  }
}

/** Returns the sequence number of the first event that a snapshot needs, or `undefined` without references. */
export function findFirstReferencedSeq(references: readonly ArtifactReference[]): number | undefined {
  return references.length > 0 ? Math.min(...references.map(({ fromSeq }) => fromSeq)) : undefined;
}

/** Returns the position of the artifact that further updates of the id change. */
function findArtifactPosition(artifacts: readonly Artifact[], artifactId: string): number {
  return artifacts.findLastIndex((artifact) => artifact.artifactId === artifactId);
}

/** Recognizes events without artifacts before they are parsed. An event is an object with one member. */
export function mayContainArtifact(eventJson: string): boolean {
  return isArtifactEventText(eventJson) || eventJson.startsWith('{"task"');
}
