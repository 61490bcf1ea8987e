import type { FaultLine } from "../../../observe/trace/index.ts";
import type { StreamFrame } from "../frames/frame-splitter.ts";
import type { FaultPlan } from "./fault-plan.ts";

/** A fault that the tap has injected into a call. */
export interface InjectedFault {
  readonly fault: FaultLine["fault"];
  readonly detail?: string;
  /** Position in the stream of the frame that the fault affects. */
  readonly index?: number;
}

/** What the tap does with a frame of a stream. */
export interface FrameDecision {
  /** Position of the frame in the agent's stream, starting at 1. */
  readonly index: number;
  /** How often the client receives the frame. */
  readonly copies: 0 | 1 | 2;
  readonly faults: readonly InjectedFault[];
  /** Whether the tap breaks the connection after the frame. */
  readonly breaks?: "cut" | "kill";
}

/** Decides about each frame of one stream, according to the fault plan of the call. */
export class StreamFaultInjector {
  readonly #plan: FaultPlan;
  #frameCount = 0;
  #eventCount = 0;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
  }

  /** Decides whether the connection breaks before the first frame. */
  decideStart(): Pick<FrameDecision, "faults" | "breaks"> {
    return this.#decideBreak();
  }

  /** Decides about the next complete frame. Only events are affected by faults. */
  decide({ kind }: Pick<StreamFrame, "kind">): FrameDecision {
    const index = ++this.#frameCount;
    if (kind === "comment") return { index, copies: 1, faults: [] };
    const event = ++this.#eventCount;
    // The tap does not hold the bytes of an oversized frame.
    const isDropped = kind === "event" && this.#plan.droppedEvents.has(event);
    const isDuplicated = kind === "event" && !isDropped && this.#plan.duplicatedEvents.has(event);
    const change: InjectedFault[] =
      isDropped || isDuplicated
        ? [{ fault: isDropped ? "drop" : "duplicate", detail: `event ${event}`, index }]
        : [];
    const { faults, breaks } = this.#decideBreak();
    return {
      index,
      copies: isDropped ? 0 : isDuplicated ? 2 : 1,
      faults: [...change, ...faults],
      ...(breaks === undefined ? {} : { breaks }),
    };
  }

  #decideBreak(): Pick<FrameDecision, "faults" | "breaks"> {
    const { cutAfterEvents, kill } = this.#plan;
    const detail = `after ${this.#eventCount} events`;
    if (kill && kill.afterEvents > 0 && this.#eventCount >= kill.afterEvents)
      return { faults: [{ fault: "kill", detail }], breaks: "kill" };
    if (this.#eventCount >= cutAfterEvents) return { faults: [{ fault: "cut", detail }], breaks: "cut" };
    return { faults: [] };
  }
}
