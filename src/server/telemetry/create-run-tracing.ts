import {
  A2AError,
  formatTraceparent,
  isTerminal,
  parseTraceContext,
  type TraceContext,
} from "../../protocol/index.ts";
import type { RunSpan, RunTracing, TracedRun } from "../../engine/index.ts";
import {
  type buildAgentRunAttributes,
  type CardOfSpan,
  getTracer,
  type SpanAttributes,
  type SpanError,
  type TracedSpan,
} from "../../observe/telemetry/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";

interface RunTracingDependencies {
  /** Returns the card of an agent, if it is loaded. */
  readonly findCard: (agentId: string) => CardOfSpan | undefined;
  /** Returns the attributes of a span. Not called if no tracer records spans. */
  readonly buildRunAttributes: typeof buildAgentRunAttributes;
  /** Record of the server, if the server has one. */
  readonly record: TrafficWriter | undefined;
}

/** Creates spans for the runs of a server's agents. */
export function createRunTracing({
  findCard,
  buildRunAttributes,
  record,
}: RunTracingDependencies): RunTracing {
  return {
    startRun(run) {
      const { agentId, taskId, contextId, attempt, parentTask, reportCall } = run;
      const card = findCard(agentId) ?? { name: agentId };
      const earlierRun = parseTraceContext(run.earlierRun?.traceparent);
      const lostSince = run.earlierRun?.lostSince;
      const parent = findParent(run) ?? earlierRun ?? "none";
      const links = earlierRun ? [earlierRun] : [];
      const buildAttributes = (attemptOfSpan: number): SpanAttributes =>
        buildRunAttributes({
          card,
          taskId,
          contextId,
          attempt: attemptOfSpan,
          parentTaskId: parentTask?.taskId,
        });
      const tracer = getTracer();
      // OpenTelemetry sends a span at its end, so that the span of a killed attempt is missing.
      if (lostSince !== undefined)
        tracer
          .startSpan({
            name: `invoke_agent ${card.name} (interrupted)`,
            kind: "internal",
            parent,
            links,
            startTimeMs: lostSince,
            attributes: () => buildAttributes(attempt - 1),
          })
          .end({ type: "interrupted", message: "The server process stopped during the attempt." });
      const span = tracer.startSpan({
        name: `invoke_agent ${card.name}`,
        kind: "internal",
        parent,
        links,
        attributes: () => buildAttributes(attempt),
        task: { taskId, agent: card.name, reportToolCall: reportCall, record },
      });
      return new AgentRunSpan(span);
    },
  };
}

/**
 * Returns the parent of a run: the span of the request, or the span of the caller. The span of the request is lost if
 * its process was killed, so that a later attempt is a child of the caller.
 */
function findParent(run: TracedRun): TraceContext | undefined {
  const { traceparent, tracestate, requestTraceparent, attempt } = run;
  const caller = parseTraceContext(traceparent, tracestate);
  const request = parseTraceContext(requestTraceparent, tracestate);
  return attempt > 1 ? (caller ?? request) : (request ?? caller);
}

class AgentRunSpan implements RunSpan {
  readonly #span: TracedSpan;

  constructor(span: TracedSpan) {
    this.#span = span;
  }

  get traceparent(): string {
    return formatTraceparent(this.#span.context);
  }

  get tracestate(): string | undefined {
    return this.#span.context.tracestate;
  }

  run<T>(work: () => T): T {
    return this.#span.run(work);
  }

  end({ state, error }: Parameters<RunSpan["end"]>[0]): void {
    if (this.#span.isRecording) this.#span.setAttributes({ "a2a.task.state": state });
    this.#span.end(describeOutcome(state, error));
  }
}

/** A canceled run is not a failure. The message of an error may contain secrets, unless it is an `A2AError`. */
function describeOutcome(
  state: Parameters<RunSpan["end"]>[0]["state"],
  error: unknown,
): SpanError | undefined {
  if (error === undefined) return state === "TASK_STATE_FAILED" ? { type: "TASK_STATE_FAILED" } : undefined;
  if (state !== undefined && isTerminal(state) && state !== "TASK_STATE_FAILED") return undefined;
  if (error instanceof A2AError) return { type: error.reason, message: error.message };
  return { type: error instanceof Error ? error.name : "_OTHER" };
}
