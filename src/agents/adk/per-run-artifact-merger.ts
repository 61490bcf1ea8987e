import type { JsonObject, Part } from "../../protocol/index.ts";
import { PARTIAL_KEY } from "./adk-event-metadata.ts";
import { appendStreamedPart, type ArtifactAgentEvent } from "./artifact-streamer.ts";

/**
 * Merges all artifacts of a run into one artifact. In the merged artifact, all content of one event chain
 * is contiguous. While one chain is open, the events of all other chains are queued, so the texts of
 * parallel agents do not interleave.
 *
 * The last event repeats the entire content with `lastChunk`, because the last chunk is unknown until the run
 * ends. In that event, the text of each message is a separate part. The merger holds the first event back
 * until another event follows, so a run with one event does not repeat its content.
 */
export class PerRunArtifactMerger {
  readonly #artifactId: string;
  readonly #queuedByChain = new Map<string, ArtifactAgentEvent[]>();
  readonly #parts: Part[] = [];
  #metadata: JsonObject | undefined;
  /**
   * Key of the current event chain, and the number of parts that precede the chain.
   */
  #currentChain: string | undefined;
  #partCountBeforeChain = 0;
  #heldEvent: ArtifactAgentEvent | undefined;
  #hasEmitted = false;

  constructor(artifactId: string) {
    this.#artifactId = artifactId;
  }

  get hasHeldEvent(): boolean {
    return this.#heldEvent !== undefined;
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
    if (this.#hasEmitted || merged.length > 1 || this.#heldEvent)
      return [...this.releaseHeldEvent(), ...merged];
    [this.#heldEvent] = merged;
    return [];
  }

  /** Returns the event that the merger holds back, if any. */
  releaseHeldEvent(): ArtifactAgentEvent[] {
    const held = this.#heldEvent;
    this.#heldEvent = undefined;
    this.#hasEmitted = true;
    return held ? [held] : [];
  }

  /** Returns the event that ends the artifact. `isPartial` marks the content of an interrupted run. */
  finish(isPartial: boolean): ArtifactAgentEvent[] {
    this.#heldEvent = undefined;
    if (this.#parts.length === 0) return [];
    const metadata = this.#metadata;
    const artifact = { artifactId: this.#artifactId, parts: this.#parts };
    const artifactMetadata = isPartial ? { ...metadata, [PARTIAL_KEY]: true } : metadata;
    return [
      {
        artifact: artifactMetadata ? { ...artifact, metadata: artifactMetadata } : artifact,
        lastChunk: true,
        ...(metadata && { metadata }),
      },
    ];
  }

  #toPerRunArtifactEvent({ artifact, append, lastChunk, metadata }: ArtifactAgentEvent): ArtifactAgentEvent {
    if (this.#currentChain === undefined) {
      this.#currentChain = artifact.artifactId;
      this.#partCountBeforeChain = this.#parts.length;
    }
    const isFirst = this.#parts.length === 0;
    // A complete answer that differs from its chunks replaces those chunks, and no others.
    const isReplacement = !append && this.#parts.length > this.#partCountBeforeChain;
    if (isReplacement) this.#parts.length = this.#partCountBeforeChain;
    // Only streamed text is joined. Texts of different messages, and the parts of one message, stay separate.
    if (append) for (const part of artifact.parts) appendStreamedPart(this.#parts, part);
    else this.#parts.push(...artifact.parts);
    if (lastChunk) this.#currentChain = undefined;
    if (metadata) this.#metadata = { ...this.#metadata, ...metadata };
    const parts = isReplacement ? this.#parts.slice() : artifact.parts;
    const event: ArtifactAgentEvent = { artifact: { ...artifact, artifactId: this.#artifactId, parts } };
    if (!isFirst && !isReplacement) event.append = true;
    if (metadata) event.metadata = metadata;
    return event;
  }
}
