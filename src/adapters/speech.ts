import type { AgentEvent, Run } from "../engine/index.ts";
import { isPlainText, type Artifact, type Part } from "../protocol/index.ts";
import type { Said } from "./say.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: Artifact }>;
type StatusEvent = Extract<AgentEvent, { status: unknown }>;
type Step = IteratorResult<AgentEvent, undefined>;

/** A generator that waits for nothing has produced its next value within this many microtasks. */
const SOON = 4;
const TICK = Promise.resolve();

/**
 * What a generator says, as events of the agent port.
 *
 * The last chunk of an artifact shall say so, but nobody knows which one is the last before the next comes. Each chunk
 * is therefore held for a few microtasks: a generator that does not wait in between has gone on by then, and its last
 * chunk is marked. One that waits (for a model, a socket) is not kept waiting: its chunk goes out, and the artifact is
 * closed with an empty text at the end of the turn.
 */
export class Speech implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #run: Run;
  readonly #source: AsyncIterator<Said, unknown>;
  /** Artifacts that were begun and not closed, and whether their last part is plain text. */
  readonly #open = new Map<string, boolean>();
  /** Said already, to be handed out before anything else. */
  readonly #ready: AgentEvent[] = [];
  #ahead: Promise<IteratorResult<Said, unknown>> | undefined;
  #held: ArtifactEvent | undefined;
  #answerId: string | undefined;
  #ended = false;

  constructor(run: Run, source: AsyncIterable<Said, unknown>) {
    this.#run = run;
    this.#source = source[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    for (;;) {
      const ready = this.#ready.shift();
      if (ready) return { done: false, value: ready };
      if (this.#ended) return { done: true, value: undefined };
      const ahead = (this.#ahead ??= this.#source.next());
      if (this.#held && !(await succeedsSoon(ahead))) return { done: false, value: this.#release() };
      const { done, value } = await ahead;
      this.#ahead = undefined;
      if (done) this.#end();
      else if (endsTurn(value)) {
        this.#end(value);
        await this.#source.return?.();
      } else this.#say(value);
    }
  }

  async return(): Promise<Step> {
    this.#ended = true;
    this.#ready.length = 0;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  #say(said: Said): void {
    if (typeof said === "string") {
      // Models are fond of empty deltas.
      if (said !== "") this.#hold(this.#answer({ text: said }), false);
    } else if ("chunk" in said) this.#hold(said.chunk, said.lastChunk ?? false);
    else if ("status" in said || "artifact" in said || "message" in said) this.#sayNow(said);
    else this.#hold(this.#answer(said), false);
  }

  #end(status?: StatusEvent): void {
    this.#close();
    if (status) this.#ready.push(status);
    this.#ended = true;
  }

  #sayNow(event: AgentEvent): void {
    if (this.#held) this.#ready.push(this.#release());
    this.#ready.push(event);
  }

  #hold(artifact: Artifact, last: boolean): void {
    if (this.#held) this.#ready.push(this.#release());
    const { artifactId, parts } = artifact;
    const event: ArtifactEvent = this.#open.has(artifactId) ? { artifact, append: true } : { artifact };
    if (last) {
      event.lastChunk = true;
      this.#open.delete(artifactId);
      this.#ready.push(event);
      return;
    }
    const end = parts.at(-1);
    this.#open.set(artifactId, end !== undefined && isPlainText(end));
    this.#held = event;
  }

  #release(): ArtifactEvent {
    const held = this.#held as ArtifactEvent;
    this.#held = undefined;
    return held;
  }

  #close(): void {
    if (this.#held) {
      this.#open.delete(this.#held.artifact.artifactId);
      this.#ready.push({ ...this.#release(), lastChunk: true });
    }
    for (const [artifactId, endsWithText] of this.#open) {
      // Plain text joins plain text, so this adds nothing; behind anything else it would be a part of its own.
      if (endsWithText) {
        this.#ready.push({ artifact: { artifactId, parts: [{ text: "" }] }, append: true, lastChunk: true });
      }
    }
    this.#open.clear();
  }

  #answer(part: Part): Artifact {
    return { artifactId: (this.#answerId ??= freeId(this.#run, "answer")), parts: [part] };
  }
}

function endsTurn(said: Said): said is StatusEvent {
  if (typeof said === "string") return false;
  // Agents without types reach this with whatever they have; a wrong object is for the engine to refuse.
  if (typeof said !== "object" || said === null) {
    throw new TypeError(`The agent yielded ${String(said)}; yield text, a part or an event.`);
  }
  return "status" in said && said.status.state !== "TASK_STATE_WORKING";
}

/** `answer`, or `answer-2` … when earlier turns of the task have left theirs. */
export function freeId({ task }: Pick<Run, "task">, name: string): string {
  const taken = new Set(task.artifacts?.map((artifact) => artifact.artifactId));
  let id = name;
  for (let turn = 2; taken.has(id); turn++) id = `${name}-${turn}`;
  return id;
}

async function succeedsSoon(promise: Promise<unknown>): Promise<boolean> {
  const seen = { success: false };
  promise.then(
    () => (seen.success = true),
    // Not lost: whoever awaits the promise next gets it.
    () => {},
  );
  for (let tick = 0; tick < SOON && !seen.success; tick++) await TICK;
  return seen.success;
}
