import type { AgentEvent, Run } from "../engine/index.ts";
import { isPlainTextPart, type Artifact, type Part } from "../protocol/index.ts";
import type { AgentYield } from "./agent-yield.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: Artifact }>;
type StatusEvent = Extract<AgentEvent, { status: unknown }>;
type AgentEventIteratorResult = IteratorResult<AgentEvent, undefined>;

/** Number of microtasks without a new value after which a generator counts as waiting. */
const LOOKAHEAD_MICROTASKS = 4;
const RESOLVED_PROMISE = Promise.resolve();

/**
 * Converts the yielded values of a generator into agent events.
 *
 * The last chunk of an artifact must be marked, but the last chunk is known only when the generator ends. The
 * iterator therefore holds back each chunk for a few microtasks. If the generator ends before its held chunk
 * is emitted, the held chunk is marked as the last chunk. If the generator waits, for example for a model or
 * a socket, the iterator emits the held chunk at once. If the last chunk of an artifact was emitted without a
 * mark, an empty text closes the artifact at the end of the turn.
 */
export class AgentEventIterator implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #run: Run;
  readonly #source: AsyncIterator<AgentYield, unknown>;
  /** The ids of open artifacts, and whether the last part of each artifact is plain text. */
  readonly #openArtifacts = new Map<string, boolean>();
  /** Agent events that are ready to be returned. */
  readonly #queue: AgentEvent[] = [];
  #pendingNext: Promise<IteratorResult<AgentYield, unknown>> | undefined;
  #heldChunk: ArtifactEvent | undefined;
  #answerArtifactId: string | undefined;
  #ended = false;

  constructor(run: Run, source: AsyncIterable<AgentYield, unknown>) {
    this.#run = run;
    this.#source = source[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<AgentEventIteratorResult> {
    for (;;) {
      const queuedEvent = this.#queue.shift();
      if (queuedEvent) return { done: false, value: queuedEvent };
      if (this.#ended) return { done: true, value: undefined };
      const pendingNext = (this.#pendingNext ??= this.#source.next());
      if (this.#heldChunk && !(await isResolvedSoon(pendingNext)))
        return { done: false, value: this.#releaseChunk() };
      const { done, value } = await pendingNext;
      this.#pendingNext = undefined;
      if (done) this.#finish();
      else if (isTurnEnd(value)) {
        this.#finish(value);
        await this.#source.return?.();
      } else this.#enqueueYieldedValue(value);
    }
  }

  async return(): Promise<AgentEventIteratorResult> {
    this.#ended = true;
    this.#queue.length = 0;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  #enqueueYieldedValue(yielded: AgentYield): void {
    if (typeof yielded === "string") {
      // Models often produce empty deltas.
      if (yielded !== "") this.#holdChunk(this.#createAnswerChunk({ text: yielded }), false);
    } else if ("chunk" in yielded) this.#holdChunk(yielded.chunk, yielded.lastChunk ?? false);
    else if ("status" in yielded || "artifact" in yielded || "message" in yielded)
      this.#enqueueEvent(yielded);
    else this.#holdChunk(this.#createAnswerChunk(yielded), false);
  }

  #finish(status?: StatusEvent): void {
    this.#closeArtifacts();
    if (status) this.#queue.push(status);
    this.#ended = true;
  }

  #enqueueEvent(event: AgentEvent): void {
    if (this.#heldChunk) this.#queue.push(this.#releaseChunk());
    this.#queue.push(event);
  }

  #holdChunk(artifact: Artifact, isLastChunk: boolean): void {
    if (this.#heldChunk) this.#queue.push(this.#releaseChunk());
    const { artifactId, parts } = artifact;
    const event: ArtifactEvent = this.#openArtifacts.has(artifactId)
      ? { artifact, append: true }
      : { artifact };
    if (isLastChunk) {
      event.lastChunk = true;
      this.#openArtifacts.delete(artifactId);
      this.#queue.push(event);
      return;
    }
    const lastPart = parts.at(-1);
    this.#openArtifacts.set(artifactId, lastPart !== undefined && isPlainTextPart(lastPart));
    this.#heldChunk = event;
  }

  #releaseChunk(): ArtifactEvent {
    const chunk = this.#heldChunk as ArtifactEvent;
    this.#heldChunk = undefined;
    return chunk;
  }

  #closeArtifacts(): void {
    if (this.#heldChunk) {
      this.#openArtifacts.delete(this.#heldChunk.artifact.artifactId);
      this.#queue.push({ ...this.#releaseChunk(), lastChunk: true });
    }
    for (const [artifactId, endsWithText] of this.#openArtifacts) {
      // An empty plain text merges with preceding plain text. After any other part, it would become an
      // additional part.
      if (endsWithText) {
        this.#queue.push({ artifact: { artifactId, parts: [{ text: "" }] }, append: true, lastChunk: true });
      }
    }
    this.#openArtifacts.clear();
  }

  #createAnswerChunk(part: Part): Artifact {
    return {
      artifactId: (this.#answerArtifactId ??= createUniqueArtifactId(this.#run, "answer")),
      parts: [part],
    };
  }
}

function isTurnEnd(yielded: AgentYield): yielded is StatusEvent {
  if (typeof yielded === "string") return false;
  // Agents without type checks may yield anything. Objects with wrong fields are rejected by the engine.
  if (typeof yielded !== "object" || yielded === null) {
    throw new TypeError(`The agent yielded ${String(yielded)}. Yield text, a part, or an event.`);
  }
  return "status" in yielded && yielded.status.state !== "TASK_STATE_WORKING";
}

/**
 * Returns an artifact id that no earlier turn of the task has used. The candidates are `name`, `name-2`,
 * `name-3`, and so on.
 */
export function createUniqueArtifactId({ task }: Pick<Run, "task">, name: string): string {
  const usedIds = new Set(task.artifacts?.map((artifact) => artifact.artifactId));
  let id = name;
  for (let turn = 2; usedIds.has(id); turn++) id = `${name}-${turn}`;
  return id;
}

async function isResolvedSoon(promise: Promise<unknown>): Promise<boolean> {
  const outcome = { success: false };
  promise.then(
    () => (outcome.success = true),
    // The error is not lost. It is thrown where the promise is awaited.
    () => {},
  );
  for (let tick = 0; tick < LOOKAHEAD_MICROTASKS && !outcome.success; tick++) await RESOLVED_PROMISE;
  return outcome.success;
}
