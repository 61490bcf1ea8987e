import type { AgentEvent } from "../engine/index.ts";
import type { Part } from "../protocol/index.ts";

/** An engine event that adds content to an artifact. */
export type ArtifactAgentEvent = Extract<AgentEvent, { artifact: unknown }>;

/**
 * Merges all artifacts of a run into one artifact. In the merged artifact, all content of one event chain
 * is contiguous. While one chain is open, the events of all other chains are queued, so the texts of
 * parallel agents do not interleave.
 *
 * Merged events never have `lastChunk`, because the last chunk is unknown until the run ends.
 */
export class PerRunArtifactMerger {
  readonly #artifactId: string;
  readonly #queuedByChain = new Map<string, ArtifactAgentEvent[]>();
  readonly #emittedParts: Part[] = [];
  /**
   * Key of the current event chain, and the number of parts that were emitted before this chain.
   */
  #currentChain: string | undefined;
  #partCountBeforeChain = 0;

  constructor(artifactId: string) {
    this.#artifactId = artifactId;
  }

  /** Returns the engine events to emit now. The artifact id of `event` identifies the event's chain. */
  mergeArtifactEvent(event: ArtifactAgentEvent): ArtifactAgentEvent[] {
    const chain = event.artifact.artifactId;
    if (this.#currentChain !== undefined && this.#currentChain !== chain) {
      const queue = this.#queuedByChain.get(chain);
      if (queue) queue.push(event);
      else this.#queuedByChain.set(chain, [event]);
      return [];
    }
    const merged = [this.#toPerRunArtifactEvent(event)];
    while (this.#currentChain === undefined) {
      const [next] = this.#queuedByChain;
      if (!next) break;
      this.#queuedByChain.delete(next[0]);
      merged.push(...next[1].map((queued) => this.#toPerRunArtifactEvent(queued)));
    }
    return merged;
  }

  #toPerRunArtifactEvent({ artifact, append, lastChunk, metadata }: ArtifactAgentEvent): ArtifactAgentEvent {
    if (this.#currentChain === undefined) {
      this.#currentChain = artifact.artifactId;
      this.#partCountBeforeChain = this.#emittedParts.length;
    }
    const isFirst = this.#emittedParts.length === 0;
    // A complete answer that differs from its chunks replaces those chunks, and no others.
    const isReplacement = !append && this.#emittedParts.length > this.#partCountBeforeChain;
    if (isReplacement) this.#emittedParts.length = this.#partCountBeforeChain;
    this.#emittedParts.push(...artifact.parts);
    if (lastChunk) this.#currentChain = undefined;
    const parts = isReplacement ? this.#emittedParts.slice() : artifact.parts;
    const event: ArtifactAgentEvent = { artifact: { ...artifact, artifactId: this.#artifactId, parts } };
    if (!isFirst && !isReplacement) event.append = true;
    if (metadata) event.metadata = metadata;
    return event;
  }
}
