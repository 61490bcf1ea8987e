import { FairShareLedger } from "../data-structures/index.ts";
import { A2AError } from "../protocol/index.ts";
import { getLimitHolderKey, type Caller } from "./caller.ts";

/** Gives each caller a fair share of the open streams of an engine. */
export class StreamLimit {
  readonly #streams: number;
  readonly #shares: FairShareLedger;

  /** The limit is the maximum number of streams of all callers together. */
  constructor(streams: number) {
    this.#streams = streams;
    this.#shares = new FairShareLedger({ capacity: streams });
  }

  /**
   * Counts an open stream of a caller, and returns a function that releases the stream. Only the first call to the
   * returned function has an effect. Throws RESOURCE_EXHAUSTED if the caller's share or all streams are in use.
   */
  acquire(caller: Caller): () => void {
    const holder = getLimitHolderKey(caller);
    const refusal = this.#shares.reserve(holder, 1);
    if (refusal) throw this.#createRefusal(caller, refusal === "share");
    let isHeld = true;
    return () => {
      if (isHeld) this.#shares.release(holder, 1);
      isHeld = false;
    };
  }

  #createRefusal({ anonymousNetwork }: Caller, isShareUsedUp: boolean): A2AError {
    const holder = anonymousNetwork === undefined ? "this caller" : "this remote address";
    const used = isShareUsedUp ? `The fair share of ${holder} in the` : "The";
    const text = `${used} limit of ${this.#streams} open streams ("limits.streams") is reached; close a stream, or try again in a second.`;
    return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
  }
}
