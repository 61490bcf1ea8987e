import { FairShareLedger, type FairShareRefusal } from "../data-structures/index.ts";
import { A2AError, estimateJsonSize, type SendMessageRequest } from "../protocol/index.ts";
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

  /**
   * Admits a turn, and returns the function that ends its admission. Throws `RESOURCE_EXHAUSTED` if a limit is
   * reached. If `isAdmitted` is true, an earlier server process has admitted the turn, which may exceed the limits.
   */
  admitTurn(caller: Caller, request: SendMessageRequest, isAdmitted = false): () => void {
    const holder = getLimitHolderKey(caller);
    const bytes = estimateJsonSize(request);
    if (!isAdmitted) this.#assertAdmissible(holder, bytes);
    this.#runLedger.reserveUnchecked(holder, 1);
    this.#messageBytesLedger.reserveUnchecked(holder, bytes);
    return () => {
      this.#runLedger.release(holder, 1);
      this.#messageBytesLedger.release(holder, bytes);
    };
  }

  #assertAdmissible(holder: string, bytes: number): void {
    const { runs, runsPerCaller, unfinishedMessageBytes } = this.#limits;
    const runRefusal = this.#runLedger.findRefusal(holder, 1);
    if (runRefusal === "share" && runsPerCaller !== undefined)
      throw createTurnLimitError(runRefusal, `${runsPerCaller} running agents`, "limits.runsPerCaller");
    if (runRefusal) throw createTurnLimitError(runRefusal, `${runs} running agents`, "limits.runs");
    const byteRefusal = this.#messageBytesLedger.findRefusal(holder, bytes);
    const total = `${unfinishedMessageBytes.toLocaleString("en")} bytes of unfinished messages`;
    if (byteRefusal) throw createTurnLimitError(byteRefusal, total, "limits.unfinishedMessageBytes");
  }
}

function createTurnLimitError(refusal: FairShareRefusal, limit: string, option: string): A2AError {
  const whose = refusal === "capacity" ? "all callers" : "this caller";
  const text = `The limit of ${limit} (${option}) is reached for ${whose}; try again in a second.`;
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
}
