import type { TaskState } from "../protocol/index.ts";
import type { Run } from "./agent.ts";
import type { ServiceParameters } from "./service-parameters.ts";

/** Continues the traces of requests in the runs of agents. The engine itself records no spans. */
export interface RunTracing {
  /** Starts the span of an agent's run. */
  startRun(run: TracedRun): RunSpan;
}

/** The run of an agent that handles one message. */
export interface TracedRun extends Pick<
  ServiceParameters,
  "traceparent" | "tracestate" | "requestTraceparent" | "parentTask"
> {
  readonly agentId: string;
  /** Reports a call of the agent. Absent if nothing observes the calls. */
  readonly reportCall?: Run["reportCall"];
  readonly taskId: string;
  readonly contextId: string;
  readonly attempt: number;
  /** The earlier attempt, if a server process has stopped during the run. */
  readonly earlierRun: EarlierRun | undefined;
}

/** An attempt at a turn that a stopped server process has started. */
export interface EarlierRun {
  /** W3C `traceparent` of the span of the attempt. */
  readonly traceparent: string;
  /**
   * Start of the span in milliseconds since 1970, if the span is lost because the process was killed. Undefined if the
   * process has ended the span.
   */
  readonly lostSince: number | undefined;
}

/** The span of an agent's run. */
export interface RunSpan {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  /** Runs a part of the agent's work, so that its calls belong to the span. */
  run<T>(work: () => T): T;
  /** Ends the span. `state` is the state of the task, and `error` is the error that the agent threw. */
  end(outcome: { readonly state: TaskState | undefined; readonly error: unknown }): void;
}
