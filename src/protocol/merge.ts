import type { TaskArtifactUpdateEvent, TaskEvent } from "./event.ts";
import { isPlainText } from "./message.ts";

/**
 * Joins two neighbouring chunks of plain text of one artifact into one event, or answers undefined when that would
 * lose something: other kinds of parts, differing metadata, a chunk that starts an artifact anew or follows a last one.
 */
export function mergeChunks(first: TaskEvent, second: TaskEvent): TaskEvent | undefined {
  if (!("artifactUpdate" in first) || !("artifactUpdate" in second)) return undefined;
  const a = first.artifactUpdate;
  const b = second.artifactUpdate;
  if (!b.append || a.lastChunk || a.artifact.artifactId !== b.artifact.artifactId) return undefined;
  if (a.metadata || !isBareChunk(b)) return undefined;
  const last = a.artifact.parts.at(-1);
  const next = b.artifact.parts[0];
  if (!last || !next || b.artifact.parts.length !== 1 || !isPlainText(last) || !isPlainText(next))
    return undefined;
  const parts = a.artifact.parts.slice();
  parts[parts.length - 1] = { text: last.text + next.text };
  const merged: TaskArtifactUpdateEvent = { ...a, artifact: { ...a.artifact, parts } };
  if (b.lastChunk) merged.lastChunk = true;
  return { artifactUpdate: merged };
}

/** A chunk that says nothing but its text: whatever it said beside it would be lost in the one before. */
function isBareChunk({ metadata, artifact }: TaskArtifactUpdateEvent): boolean {
  return !(metadata || artifact.metadata || artifact.extensions || artifact.name || artifact.description);
}
