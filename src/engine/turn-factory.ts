import type { Message } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import { measureRequestSize } from "./measure-size.ts";
import {
  type QueuedTurnData,
  restoreCaller,
  restoreQueuedRequest,
  type TurnRestartData,
} from "./turn-restart-data.ts";
import type { TurnAdmission } from "./turn-admission.ts";
import { Turn, type TurnDependencies, type TurnRequest } from "./turn.ts";

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
    {
      attempt,
      handovers,
      mayExceed,
    }: { attempt?: number; handovers?: number; mayExceed?: "share" | "limits" } = {},
  ): Turn {
    const endAdmission = this.#admission.admitTurn(inbound.caller, measureRequestSize(inbound), mayExceed);
    const turn = new Turn(this.#context, inbound, message, attempt, handovers);
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
    const turn = this.createTurn(inbound, message, {
      attempt: persisted.attempt + 1,
      handovers: persisted.handovers ?? 0,
      // A suspended turn does not count as a running agent.
      mayExceed: persisted.wakeAt === undefined ? "share" : "limits",
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
    return this.createTurn(inbound, queued.message, { mayExceed: "limits" });
  }
}
