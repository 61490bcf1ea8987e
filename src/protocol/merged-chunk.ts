import type { TaskArtifactUpdateEvent, TaskEvent } from "./event.ts";
import { isPlainTextPart } from "./message.ts";

/**
 * Returns true if two adjacent chunks can become one event without losing information. Both chunks must
 * contain plain text of the same artifact. The second chunk must only append text, and the first chunk must
 * not have `lastChunk`.
 */
export function canMergeChunks(first: TaskEvent, second: TaskEvent): boolean {
  if (!("artifactUpdate" in first) || !("artifactUpdate" in second)) return false;
  const a = first.artifactUpdate;
  const b = second.artifactUpdate;
  if (!b.append || a.lastChunk || a.artifact.artifactId !== b.artifact.artifactId) return false;
  if (a.metadata || !isChunkMergeableWithoutLoss(b)) return false;
  const last = a.artifact.parts.at(-1);
  const [next] = b.artifact.parts;
  return last !== undefined && next !== undefined && isPlainTextPart(last) && isPlainTextPart(next);
}

/**
 * Returns true if `second` replaces the artifact to which `first` adds a chunk, so that `first` has no effect.
 * Agents often end an artifact with its entire content.
 */
export function isChunkReplacedBy(first: TaskEvent, second: TaskEvent): boolean {
  if (!("artifactUpdate" in first) || !("artifactUpdate" in second)) return false;
  const a = first.artifactUpdate;
  const b = second.artifactUpdate;
  const isReplacement = !b.append && a.artifact.artifactId === b.artifact.artifactId;
  return isReplacement && !a.lastChunk && !a.metadata;
}

/** Returns true if a chunk has one part and no members that merging would discard. */
function isChunkMergeableWithoutLoss({ metadata, artifact }: TaskArtifactUpdateEvent): boolean {
  const { parts, name, description, extensions } = artifact;
  return parts.length === 1 && !(metadata || artifact.metadata || extensions || name || description);
}

/**
 * An event that can grow by later chunks without copying the earlier text. The first event of a merged chunk
 * is not modified.
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

  /** Adds a chunk to the event. The caller must first check the chunk with `canMergeChunks`. */
  add({ artifact, lastChunk }: TaskArtifactUpdateEvent): void {
    const [part] = artifact.parts;
    if (part && "text" in part) this.#text.text += part.text;
    if (lastChunk) this.event.artifactUpdate.lastChunk = true;
  }
}
