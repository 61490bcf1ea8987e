import type { AgentEvent } from "../engine/index.ts";
import type { Part } from "../protocol/index.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

/**
 * Makes one artifact of all that a run has to say. Each chain of events is told without a break: while one is told,
 * the others wait, so that agents who speak at the same time do not interrupt one another. It never says which chunk
 * is the last one, because only the end of the run shows that.
 */
export class OneArtifact {
  readonly #artifactId: string;
  readonly #waiting = new Map<string, ArtifactEvent[]>();
  readonly #told: Part[] = [];
  /** The chain that is being told, and how much was told before it. */
  #current: string | undefined;
  #before = 0;

  constructor(artifactId: string) {
    this.#artifactId = artifactId;
  }

  /** What is to be said now; `event` has the artifact of its chain. */
  take(event: ArtifactEvent): ArtifactEvent[] {
    const chain = event.artifact.artifactId;
    if (this.#current !== undefined && this.#current !== chain) {
      const queue = this.#waiting.get(chain);
      if (queue) queue.push(event);
      else this.#waiting.set(chain, [event]);
      return [];
    }
    const said = [this.#tell(event)];
    while (this.#current === undefined) {
      const [next] = this.#waiting;
      if (!next) break;
      this.#waiting.delete(next[0]);
      said.push(...next[1].map((waiting) => this.#tell(waiting)));
    }
    return said;
  }

  #tell({ artifact, append, lastChunk, metadata }: ArtifactEvent): ArtifactEvent {
    if (this.#current === undefined) {
      this.#current = artifact.artifactId;
      this.#before = this.#told.length;
    }
    const isFirst = this.#told.length === 0;
    // A whole that says something else than its pieces takes their place, and only theirs.
    const isOther = !append && this.#told.length > this.#before;
    if (isOther) this.#told.length = this.#before;
    this.#told.push(...artifact.parts);
    if (lastChunk) this.#current = undefined;
    const parts = isOther ? this.#told.slice() : artifact.parts;
    const event: ArtifactEvent = { artifact: { ...artifact, artifactId: this.#artifactId, parts } };
    if (!isFirst && !isOther) event.append = true;
    if (metadata) event.metadata = metadata;
    return event;
  }
}
