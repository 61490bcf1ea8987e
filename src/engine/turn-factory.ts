import type { Quota } from "../base/data-structures/index.ts";
import type { Message } from "../protocol/index.ts";
import { type Caller, getLimitHolderKey, type TaskScope } from "./caller.ts";
import { measureRequestSize } from "./log-events.ts";
import {
  type QueuedTurnData,
  restoreCaller,
  restoreQueuedRequest,
  type TurnRestartData,
} from "./turn-restart-data.ts";
import { Turn, type TurnAttempt, type TurnDependencies, type TurnRequest } from "./turn.ts";
import { createCallerQuota, type EngineLimits } from "./engine-limits.ts";

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
  readonly #limit: number;
  readonly #runs: Quota;
  readonly #messageBytes: Quota;

  constructor(limits: Pick<EngineLimits, "runs" | "runsPerCaller" | "unfinishedMessageBytes">) {
    const { runs, runsPerCaller, unfinishedMessageBytes } = limits;
    this.#limit = runs;
    this.#runs = createCallerQuota("limits.runs", "running agents", runs, runsPerCaller);
    this.#messageBytes = createCallerQuota(
      "limits.unfinishedMessageBytes",
      "bytes of unfinished messages",
      unfinishedMessageBytes,
    );
  }

  /** Number of admitted turns. */
  get turnCount(): number {
    return this.#runs.reserved;
  }

  /** Number of turns that the limit on agent runs still admits. */
  get freeRunCount(): number {
    return Math.max(0, this.#limit - this.turnCount);
  }

  /**
   * Number of turns that can start again. They can exceed the limit on agent runs by a tenth, which new messages cannot
   * use. Otherwise, new messages could take each place that becomes free.
   */
  get freeRestartCount(): number {
    return Math.max(0, this.#limit + Math.floor(this.#limit / 10) - this.turnCount);
  }

  /**
   * Admits a turn whose request has a size of `bytes`, and returns the function that ends its admission, which is safe to
   * repeat. Throws `RESOURCE_EXHAUSTED` if a limit is reached. A turn that an earlier server process has admitted may
   * exceed the share of its caller, because shares depend on the order of the turns. A queued turn of an earlier process
   * may exceed all limits.
   */
  admitTurn(
    caller: Caller,
    bytes: number,
    mayExceed: "nothing" | "share" | "limits" = "nothing",
  ): () => void {
    const holder = getLimitHolderKey(caller);
    const mayExceedShare = mayExceed === "share";
    if (mayExceed !== "limits") {
      const mayUseReserve = mayExceedShare && this.freeRestartCount > 0;
      if (!mayUseReserve) this.#runs.assertRoom(holder, 1, mayExceedShare);
      this.#messageBytes.assertRoom(holder, bytes, mayExceedShare);
    }
    this.#runs.reserveUnchecked(holder, 1);
    this.#messageBytes.reserveUnchecked(holder, bytes);
    let isAdmitted = true;
    return () => {
      if (!isAdmitted) return;
      isAdmitted = false;
      this.#runs.release(holder, 1);
      this.#messageBytes.release(holder, bytes);
    };
  }
}
