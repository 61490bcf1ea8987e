import { A2AError, type Message } from "../protocol/index.ts";
import { type Caller, getLimitHolderKey, type TaskScope } from "./caller.ts";
import { measureRequestSize } from "./measure-size.ts";
import {
  type QueuedTurnData,
  restoreCaller,
  restoreQueuedRequest,
  type TurnRestartData,
} from "./turn-restart-data.ts";
import { Turn, type TurnAttempt, type TurnDependencies, type TurnRequest } from "./turn.ts";
import { FairShareLedger, type FairShareRefusal } from "../base/data-structures/index.ts";
import type { EngineLimits } from "./engine-limits.ts";

/** Creates turns of new messages, and of messages that an earlier server process has accepted. */
export class TurnFactory {
  readonly #admission: TurnAdmission;
  readonly #context: TurnDependencies;

  constructor(admission: TurnAdmission, context: TurnDependencies) {
    this.#admission = admission;
    this.#context = context;
  }

  /**
   * Creates a turn. Until the turn ends, it counts against the limits on concurrent runs. A turn that an earlier server
   * process has accepted may exceed the share of its caller, or all limits.
   */
  createTurn(
    inbound: TurnRequest,
    message: Message,
    mayExceed?: "share" | "limits",
    attempt?: TurnAttempt,
  ): Turn {
    const endAdmission = this.#admission.admitTurn(inbound.caller, measureRequestSize(inbound), mayExceed);
    const turn = new Turn(this.#context, inbound, message, attempt);
    turn.endAdmission = endAdmission;
    return turn;
  }

  /**
   * Creates the next attempt at a turn that an earlier server process started. Throws `RESOURCE_EXHAUSTED`
   * if a limit of all callers together is reached. `message` must contain the ids of its task and context.
   */
  createNextAttempt(scope: TaskScope, persisted: TurnRestartData, message: Message): Turn {
    const inbound = {
      request: { ...persisted.request, message },
      caller: restoreCaller(scope, persisted),
      // The task exists, so a reply without a task must complete it.
      serviceParameters: { ...persisted.service, needsTask: true },
    };
    // A suspended turn does not count as a running agent.
    const mayExceed = persisted.wakeAt === undefined ? "share" : "limits";
    const turn = this.createTurn(inbound, message, mayExceed, {
      ...persisted,
      attempt: persisted.attempt + 1,
    });
    const { runTraceparent: traceparent, runStartedAt: lostSince } = persisted;
    if (traceparent !== undefined) turn.earlierRun = { traceparent, lostSince };
    return turn;
  }

  /** Creates the turn of a message that an earlier server process queued. */
  restoreQueuedTurn(scope: TaskScope, queued: QueuedTurnData): Turn {
    const inbound = {
      ...restoreQueuedRequest(queued),
      caller: restoreCaller(scope, queued),
    };
    return this.createTurn(inbound, queued.message, "limits");
  }
}

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
   * Number of turns that can start again. They can exceed the limit on agent runs by a tenth, which new messages cannot
   * use. Otherwise, new messages could take each place that becomes free.
   */
  get freeRestartCount(): number {
    const { runs } = this.#limits;
    return Math.max(0, runs + Math.floor(runs / 10) - this.#turnCount);
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
    const mayUseReserve = mayExceedShare && this.freeRestartCount > 0;
    const runRefusal = mayUseReserve ? undefined : findRefusal(this.#runLedger, 1);
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
