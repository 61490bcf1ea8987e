import type { TaskArtifactUpdateEvent, TaskEvent } from "./event.ts";
import { isPlainText } from "./message.ts";

/**
 * True when two neighbouring chunks can be one event without losing anything: plain text of one artifact, where the
 * second says nothing but its text, does not start the artifact anew and does not follow a last chunk.
 */
export function canMergeChunks(first: TaskEvent, second: TaskEvent): boolean {
  if (!("artifactUpdate" in first) || !("artifactUpdate" in second)) return false;
  const a = first.artifactUpdate;
  const b = second.artifactUpdate;
  if (!b.append || a.lastChunk || a.artifact.artifactId !== b.artifact.artifactId) return false;
  if (a.metadata || !isTextOnlyChunk(b)) return false;
  const last = a.artifact.parts.at(-1);
  const [next] = b.artifact.parts;
  return last !== undefined && next !== undefined && isPlainText(last) && isPlainText(next);
}

/** A chunk that says nothing but its text: whatever it said beside it would be lost in the one before. */
function isTextOnlyChunk({ metadata, artifact }: TaskArtifactUpdateEvent): boolean {
  const { parts, name, description, extensions } = artifact;
  return parts.length === 1 && !(metadata || artifact.metadata || extensions || name || description);
}

/**
 * An event that grows by the chunks that are merged into it, without copying what it has. The event that it begins with
 * stays as it was.
 */
export class MergedChunk {
  readonly event: { artifactUpdate: TaskArtifactUpdateEvent };
  readonly #text: { text: string };

  constructor(first: TaskArtifactUpdateEvent) {
    const parts = first.artifact.parts.slice();
    const last = parts.at(-1);
    this.#text = { text: last && "text" in last ? last.text : "" };
    parts[parts.length - 1] = this.#text;
    this.event = { artifactUpdate: { ...first, artifact: { ...first.artifact, parts } } };
  }

  /** Adds a chunk for which `canMergeChunks` said yes. */
  add({ artifact, lastChunk }: TaskArtifactUpdateEvent): void {
    const [part] = artifact.parts;
    if (part && "text" in part) this.#text.text += part.text;
    if (lastChunk) this.event.artifactUpdate.lastChunk = true;
  }
}
