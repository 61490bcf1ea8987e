import { FairShareLedger, type FairShareRefusal } from "../data-structures/index.ts";
import { A2AError } from "../protocol/index.ts";
import { getLimitHolderKey, type Caller } from "./caller.ts";
import type { EngineLimits } from "./engine-limits.ts";

/**
 * Admits turns within the limits on agent runs and on bytes of unfinished messages. A turn counts from its message
 * until its end, also while the turn waits in a queue. Each caller receives a fair share of both limits.
 */
export class TurnAdmission {
  readonly #limits: Pick<EngineLimits, "runs" | "runsPerCaller" | "unfinishedMessageBytes">;
  readonly #runLedger: FairShareLedger;
  readonly #messageBytesLedger: FairShareLedger;
  #turnCount = 0;

  constructor(limits: Pick<EngineLimits, "runs" | "runsPerCaller" | "unfinishedMessageBytes">) {
    const { runs, runsPerCaller, unfinishedMessageBytes } = limits;
    this.#limits = limits;
    this.#runLedger = new FairShareLedger(
      runsPerCaller === undefined
        ? { capacity: runs }
        : { capacity: runs, ratioToFree: Infinity, maxPerHolder: runsPerCaller },
    );
    this.#messageBytesLedger = new FairShareLedger({ capacity: unfinishedMessageBytes });
  }

  /** Number of admitted turns. */
  get turnCount(): number {
    return this.#turnCount;
  }

  /** Number of turns that the limit on agent runs still admits. */
  get freeRunCount(): number {
    return Math.max(0, this.#limits.runs - this.#turnCount);
  }

  /**
   * Admits a turn whose request has a size of `bytes`, and returns the function that ends its admission, which is safe to
   * repeat. Throws `RESOURCE_EXHAUSTED` if a limit is
   * reached. A turn that an earlier server process has admitted may exceed the share of its caller, because shares
   * depend on the order of the turns. A queued turn of an earlier process may exceed all limits.
   */
  admitTurn(
    caller: Caller,
    bytes: number,
    mayExceed: "nothing" | "share" | "limits" = "nothing",
  ): () => void {
    const holder = getLimitHolderKey(caller);
    if (mayExceed !== "limits") this.#assertAdmissible(holder, bytes, mayExceed === "share");
    this.#runLedger.reserveUnchecked(holder, 1);
    this.#messageBytesLedger.reserveUnchecked(holder, bytes);
    this.#turnCount++;
    let isAdmitted = true;
    return () => {
      if (!isAdmitted) return;
      isAdmitted = false;
      this.#turnCount--;
      this.#runLedger.release(holder, 1);
      this.#messageBytesLedger.release(holder, bytes);
    };
  }

  #assertAdmissible(holder: string, bytes: number, mayExceedShare: boolean): void {
    const { runs, runsPerCaller, unfinishedMessageBytes } = this.#limits;
    const findRefusal = (ledger: FairShareLedger, amount: number): FairShareRefusal | undefined => {
      const refusal = ledger.findRefusal(holder, amount);
      return refusal === "share" && mayExceedShare ? undefined : refusal;
    };
    const runRefusal = findRefusal(this.#runLedger, 1);
    if (runRefusal === "share" && runsPerCaller !== undefined)
      throw createTurnLimitError(runRefusal, `${runsPerCaller} running agents`, "limits.runsPerCaller");
    if (runRefusal) throw createTurnLimitError(runRefusal, `${runs} running agents`, "limits.runs");
    const byteRefusal = findRefusal(this.#messageBytesLedger, bytes);
    if (byteRefusal === undefined) return;
    // Formatting the number takes several microseconds.
    const total = `${unfinishedMessageBytes.toLocaleString("en")} bytes of unfinished messages`;
    throw createTurnLimitError(byteRefusal, total, "limits.unfinishedMessageBytes");
  }
}

function createTurnLimitError(refusal: FairShareRefusal, limit: string, option: string): A2AError {
  const whose = refusal === "capacity" ? "all callers" : "this caller";
  const text = `The limit of ${limit} (${option}) is reached for ${whose}; try again in a second.`;
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
}
