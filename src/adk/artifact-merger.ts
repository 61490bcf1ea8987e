import type { AgentEvent } from "../engine/index.ts";
import type { Part } from "../protocol/index.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

/**
 * Makes one artifact of all that a run has to say. Each chain of events is told without a break: while one is told,
 * the others wait, so that agents who speak at the same time do not interrupt one another. It never says which chunk
 * is the last one, because only the end of the run shows that.
 */
export class ArtifactMerger {
  readonly #artifactId: string;
  readonly #queuedByChain = new Map<string, ArtifactEvent[]>();
  readonly #emittedParts: Part[] = [];
  /** The chain that is being told, and how much was told before it. */
  #currentChain: string | undefined;
  #partCountBeforeChain = 0;

  constructor(artifactId: string) {
    this.#artifactId = artifactId;
  }

  /** What is to be said now; `event` has the artifact of its chain. */
  merge(event: ArtifactEvent): ArtifactEvent[] {
    const chain = event.artifact.artifactId;
    if (this.#currentChain !== undefined && this.#currentChain !== chain) {
      const queue = this.#queuedByChain.get(chain);
      if (queue) queue.push(event);
      else this.#queuedByChain.set(chain, [event]);
      return [];
    }
    const said = [this.#toMergedEvent(event)];
    while (this.#currentChain === undefined) {
      const [next] = this.#queuedByChain;
      if (!next) break;
      this.#queuedByChain.delete(next[0]);
      said.push(...next[1].map((waiting) => this.#toMergedEvent(waiting)));
    }
    return said;
  }

  #toMergedEvent({ artifact, append, lastChunk, metadata }: ArtifactEvent): ArtifactEvent {
    if (this.#currentChain === undefined) {
      this.#currentChain = artifact.artifactId;
      this.#partCountBeforeChain = this.#emittedParts.length;
    }
    const isFirst = this.#emittedParts.length === 0;
    // A whole that says something else than its pieces takes their place, and only theirs.
    const isOther = !append && this.#emittedParts.length > this.#partCountBeforeChain;
    if (isOther) this.#emittedParts.length = this.#partCountBeforeChain;
    this.#emittedParts.push(...artifact.parts);
    if (lastChunk) this.#currentChain = undefined;
    const parts = isOther ? this.#emittedParts.slice() : artifact.parts;
    const event: ArtifactEvent = { artifact: { ...artifact, artifactId: this.#artifactId, parts } };
    if (!isFirst && !isOther) event.append = true;
    if (metadata) event.metadata = metadata;
    return event;
  }
}
