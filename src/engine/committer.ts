import type { Clock } from "./clock.ts";
import type { Append, AppendRefusal, TaskStore } from "./store.ts";

/** Somebody with events to commit: a runner. */
export interface Writer {
  /** What is to be appended now; undefined when nothing is. Not asked again before `committed` or `notCommitted`. */
  takeAppend(): Append | undefined;
  committed(): void;
  /** Nothing was appended. The writer decides whether to come again. */
  notCommitted(why: AppendRefusal | Error): void;
}

const RETRY_MS = [50, 200, 800, 3200];
/** A rest that is not worth a timer; a commit to memory takes a hundredth of it. */
const MIN_REST_MS = 0.1;

/**
 * Group commit: all that became ready in one turn of the event loop, from all tasks, is one transaction of the store.
 * While one is under way the next gathers, so that a slow disk makes larger batches, not longer queues. Events that
 * nobody waits for (chunks) rest after a commit for as long as that took, so that a stream spends at most half of its
 * time on the disk; all others go at once.
 */
export class Committer {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  #ready = new Set<Writer>();
  #scheduled = false;
  #urgent = false;
  #agentsAtWork = 0;
  /** When a commit may begin that is not urgent, by the clock's monotonic time. */
  #restUntil = 0;
  /** Ends the rest that is under way. */
  #wake: (() => void) | undefined;

  constructor(store: TaskStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Has the writer's events committed soon; `urgent`: without a rest. */
  add(writer: Writer, urgent: boolean): void {
    this.#ready.add(writer);
    this.#urgent ||= urgent;
    if (!this.#scheduled) {
      this.#scheduled = true;
      this.#schedule();
    } else if (urgent) this.#wake?.();
  }

  /** An agent begins to work. */
  enter(): void {
    this.#agentsAtWork++;
  }

  leave(): void {
    this.#agentsAtWork--;
  }

  async #flush(): Promise<void> {
    this.#urgent = false;
    const writers: Writer[] = [];
    const batch: Append[] = [];
    for (const writer of this.#ready) {
      const append = take(writer);
      if (!append) continue;
      writers.push(writer);
      batch.push(append);
    }
    this.#ready = new Set();
    if (batch.length > 0) await this.#commit(writers, batch);
    if (this.#ready.size > 0) this.#schedule();
    else this.#scheduled = false;
  }

  /** After all that this turn of the event loop brings, so that a burst becomes one commit. */
  #schedule(): void {
    const rest = this.#urgent ? 0 : this.#restUntil - this.#clock.monotonic();
    if (rest > MIN_REST_MS) this.#rest(rest);
    else setImmediate(() => void this.#flush());
  }

  #rest(ms: number): void {
    const wake = (): void => {
      cancel();
      this.#wake = undefined;
      setImmediate(() => void this.#flush());
    };
    const cancel = this.#clock.after(ms, wake);
    this.#wake = wake;
  }

  async #commit(writers: Writer[], batch: Append[]): Promise<void> {
    let refusals: readonly (AppendRefusal | undefined)[];
    const began = this.#clock.monotonic();
    try {
      refusals = await this.#store.commit(batch, { agentsAtWork: this.#agentsAtWork > 0 });
    } catch {
      // One task's events may be what the store chokes on: none may suffer for another, nor wait for its next try.
      for (const [at, append] of batch.entries()) void this.#commitAlone(writers[at] as Writer, append);
      return;
    }
    const ended = this.#clock.monotonic();
    this.#restUntil = ended + (ended - began);
    for (let at = 0; at < writers.length; at++) settle(writers[at] as Writer, refusals[at]);
  }

  async #commitAlone(writer: Writer, append: Append): Promise<void> {
    let last: unknown;
    for (const pause of [0, ...RETRY_MS]) {
      if (pause > 0) await new Promise<void>((resolve) => this.#clock.after(pause, resolve));
      try {
        const [refusal] = await this.#store.commit([append]);
        settle(writer, refusal);
        return;
      } catch (error) {
        last = error;
      }
    }
    writer.notCommitted(toError(last));
  }
}

/** What a writer has; one that can not say it has nothing, and no other writer suffers for it. */
function take(writer: Writer): Append | undefined {
  try {
    return writer.takeAppend();
  } catch (error) {
    writer.notCommitted(toError(error));
    return undefined;
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function settle(writer: Writer, refusal: AppendRefusal | undefined): void {
  if (refusal === undefined) writer.committed();
  else writer.notCommitted(refusal);
}
