import type { AgentEvent, Run } from "../../engine/index.ts";
import {
  type Artifact,
  type ArtifactEnding,
  appendPartJoiningText,
  type Part,
  splitLastPiece,
} from "../../protocol/index.ts";
import {
  countCreatedEvents,
  findUnyieldedFunctionName,
  markAsYielded,
  type AgentYield,
} from "./agent-yield.ts";

type StatusEvent = Extract<AgentEvent, { status: unknown }>;
type AgentEventIteratorResult = IteratorResult<AgentEvent, undefined>;

/** Number of microtasks without a new value before a generator counts as waiting. */
const LOOKAHEAD_MICROTASKS = 4;
const RESOLVED_PROMISE = Promise.resolve();

/** An artifact whose last chunk has not been emitted. */
interface OpenArtifact {
  /** The artifact's members except `parts`, merged from all chunks so far. */
  description: Omit<Artifact, "parts">;
  /** The content of the artifact so far. With `pieces`, only the content that has not been emitted yet. */
  parts: Part[];
  hasEmitted: boolean;
}

/**
 * Converts the yielded values of a generator into agent events.
 *
 * The last chunk of an artifact must be marked, but the last chunk is known only when the generator ends.
 * With the ending `whole`, the last chunk repeats the entire content and replaces the earlier chunks. The
 * iterator delays the latest chunk for a few microtasks, so that an answer with one chunk is sent only once.
 * With the ending `pieces`, the iterator also keeps the last character or the last part of each artifact,
 * because the last chunk must not be empty.
 */
export class AgentEventIterator implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #run: Run;
  readonly #source: AsyncIterator<AgentYield, unknown>;
  readonly #ending: ArtifactEnding;
  readonly #openArtifacts = new Map<string, OpenArtifact>();
  /** Agent events that are ready to be returned. */
  readonly #queue: AgentEvent[] = [];
  #pendingNext: Promise<IteratorResult<AgentYield, unknown>> | undefined;
  #heldChunk: Artifact | undefined;
  #answerArtifactId: string | undefined;
  /** The error of the generator, which is thrown after the queued events are returned. */
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  readonly #createdEventCountAtStart = countCreatedEvents();
  /** True if the generator has yielded more than reports of its activity. */
  #hasAnswer = false;

  constructor(run: Run, source: AsyncIterable<AgentYield, unknown>, ending: ArtifactEnding = "whole") {
    this.#run = run;
    assertAsyncIterable(source);
    this.#source = source[Symbol.asyncIterator]();
    this.#ending = ending;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<AgentEventIteratorResult> {
    for (;;) {
      const queuedEvent = this.#queue.shift();
      if (queuedEvent) return { done: false, value: queuedEvent };
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) throw failure.error;
      if (this.#ended) return { done: true, value: undefined };
      const pendingNext = (this.#pendingNext ??= this.#source.next());
      if (this.#heldChunk && !(await isResolvedSoon(pendingNext))) {
        this.#releaseChunk();
        continue;
      }
      try {
        await this.#enqueueStep(await pendingNext);
      } catch (error) {
        // The task keeps what the generator yielded before it failed or was canceled.
        this.#finish();
        this.#failure = { error };
      }
    }
  }

  async return(): Promise<AgentEventIteratorResult> {
    this.#ended = true;
    this.#failure = undefined;
    this.#queue.length = 0;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  async #enqueueStep({ done, value }: IteratorResult<AgentYield, unknown>): Promise<void> {
    this.#pendingNext = undefined;
    if (done && value !== undefined) throw createReturnedValueError(value);
    if (!done) markAsYielded(value);
    if (done) {
      if (!this.#hasAnswer) this.#warnAboutMissingYield();
      this.#finish();
    } else if (isTurnEnd(value)) {
      this.#finish(value);
      await this.#source.return?.();
    } else this.#enqueueYieldedValue(value);
  }

  #enqueueYieldedValue(yielded: AgentYield): void {
    if (typeof yielded === "string") {
      // Models often produce empty deltas.
      if (yielded !== "") this.#holdChunk(this.#createAnswerChunk({ text: yielded }), false);
    } else if ("chunk" in yielded) this.#holdChunk(yielded.chunk, yielded.lastChunk ?? false);
    else if ("status" in yielded || "artifact" in yielded || "message" in yielded) {
      if (!("status" in yielded)) this.#hasAnswer = true;
      this.#enqueueEvent(yielded);
    } else this.#holdChunk(this.#createAnswerChunk(yielded), false);
  }

  /** A call such as `inputRequired(…)` without `yield` has no effect, and the task is COMPLETED without an answer. */
  #warnAboutMissingYield(): void {
    const name = findUnyieldedFunctionName(this.#createdEventCountAtStart);
    if (name === undefined) return;
    this.#run.reportWarning?.(
      `The turn ended without an answer, and the agent did not yield the event of ${name}(…). Write yield ${name}(…).`,
    );
  }

  #finish(status?: StatusEvent): void {
    this.#closeArtifacts();
    if (status) this.#queue.push(status);
    this.#ended = true;
  }

  #enqueueEvent(event: AgentEvent): void {
    this.#releaseChunk();
    this.#queue.push(event);
  }

  #holdChunk(artifact: Artifact, isLastChunk: boolean): void {
    this.#releaseChunk();
    this.#hasAnswer = true;
    this.#heldChunk = artifact;
    if (isLastChunk) this.#closeArtifact(artifact.artifactId);
  }

  /** Emits the delayed chunk. With `pieces`, the end of the chunk is kept until the next chunk arrives. */
  #releaseChunk(): void {
    const chunk = this.#heldChunk;
    if (!chunk) return;
    this.#heldChunk = undefined;
    const open = this.#addToOpenArtifact(chunk);
    const [parts, waiting] =
      this.#ending === "whole" ? [chunk.parts, open.parts] : splitLastPiece(open.parts);
    open.parts = waiting;
    if (parts.length === 0) return;
    const artifact = this.#ending === "whole" ? chunk : { ...chunk, parts };
    this.#queue.push(open.hasEmitted ? { artifact, append: true } : { artifact });
    open.hasEmitted = true;
  }

  #addToOpenArtifact({ parts, ...description }: Artifact): OpenArtifact {
    const { artifactId } = description;
    let open = this.#openArtifacts.get(artifactId);
    if (!open) {
      open = { description, parts: [], hasEmitted: false };
      this.#openArtifacts.set(artifactId, open);
    }
    if (hasDetails(description)) open.description = mergeDescriptions(open.description, description);
    for (const part of parts) appendPartJoiningText(open.parts, part);
    return open;
  }

  #closeArtifact(artifactId: string): void {
    const held = this.#heldChunk?.artifactId === artifactId ? this.#heldChunk : undefined;
    if (held) this.#heldChunk = undefined;
    const open = held ? this.#addToOpenArtifact(held) : this.#openArtifacts.get(artifactId);
    this.#openArtifacts.delete(artifactId);
    if (!open) return;
    const artifact = { ...open.description, parts: open.parts };
    const append = this.#ending === "pieces" && open.hasEmitted;
    this.#queue.push(append ? { artifact, append, lastChunk: true } : { artifact, lastChunk: true });
  }

  #closeArtifacts(): void {
    if (this.#heldChunk) this.#closeArtifact(this.#heldChunk.artifactId);
    for (const artifactId of this.#openArtifacts.keys()) this.#closeArtifact(artifactId);
  }

  #createAnswerChunk(part: Part): Artifact {
    return {
      artifactId: (this.#answerArtifactId ??= createUniqueArtifactId(this.#run, "answer")),
      parts: [part],
    };
  }
}

/** Returns false for most chunks, because most chunks have only an id and parts. */
function hasDetails({ name, description, metadata, extensions }: Omit<Artifact, "parts">): boolean {
  return Boolean(name ?? description ?? metadata ?? extensions);
}

/** Merges the members of a later chunk into the members of earlier chunks, in the same way as `fold`. */
function mergeDescriptions(
  earlier: Omit<Artifact, "parts">,
  later: Omit<Artifact, "parts">,
): Omit<Artifact, "parts"> {
  const merged = { ...earlier, ...later };
  if (earlier.metadata) merged.metadata = { ...earlier.metadata, ...later.metadata };
  if (earlier.extensions)
    merged.extensions = [...new Set([...earlier.extensions, ...(later.extensions ?? [])])];
  return merged;
}

function isTurnEnd(yielded: AgentYield): yielded is StatusEvent {
  if (typeof yielded === "string") return false;
  // Agents without type checks may yield anything. Objects with wrong fields are rejected by the engine.
  if (typeof yielded !== "object" || yielded === null) {
    throw new TypeError(`The agent yielded ${String(yielded)}. Yield text, a part, or an event.`);
  }
  return "status" in yielded && yielded.status.state !== "TASK_STATE_WORKING";
}

/** The caller would never receive a returned value, although the task would be COMPLETED. */
function createReturnedValueError(value: unknown): TypeError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : `a value (${typeof value})`;
  return new TypeError(
    `The agent returned ${shown}, which no caller receives. Write yield instead of return.`,
  );
}

function assertAsyncIterable(source: unknown): void {
  if (typeof source === "object" && source !== null && Symbol.asyncIterator in source) return;
  // An unhandled rejection would end the process.
  if (source instanceof Promise) source.catch(() => {});
  const shown = source instanceof Promise ? "a promise" : String(source);
  throw new TypeError(
    `The agent's function returned ${shown} instead of a generator. Write async function* and yield the answer.`,
  );
}

/**
 * Returns an artifact id that no earlier turn of the task has used. The candidates are `name`, `name-2`,
 * `name-3`, and so on. The search starts after the newest id, so that its cost does not grow with each turn.
 */
export function createUniqueArtifactId({ task }: Pick<Run, "task">, name: string): string {
  const ids = task.artifacts?.map(({ artifactId }) => artifactId) ?? [];
  if (!ids.includes(name)) return name;
  const newest = Number(ids.findLast((id) => id.startsWith(`${name}-`))?.slice(name.length + 1));
  for (let turn = Number.isSafeInteger(newest) && newest > 1 ? newest + 1 : 2; ; turn++) {
    const id = `${name}-${turn}`;
    if (!ids.includes(id)) return id;
  }
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
