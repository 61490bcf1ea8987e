import {
  A2AError,
  formatTraceparent,
  isTerminal,
  parseTraceContext,
  type TraceContext,
} from "../../protocol/index.ts";
import type { RunSpan, RunTracing, TracedTask, TracedTurn } from "../../engine/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import {
  type buildAgentRunAttributes,
  type CardOfSpan,
  getTracer,
  runInTraceScope,
  type RunningTask,
  type SpanAttributes,
  type SpanError,
  type TracedSpan,
  type Tracer,
  type TraceScope,
} from "../../observe/telemetry/index.ts";

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
  const findAgentCard = (agentId: string): CardOfSpan => findCard(agentId) ?? { name: agentId };
  const startSpan = (tracer: Tracer, turn: TracedTurn, task: TracedTask): TracedSpan => {
    const { taskId, contextId, scope } = task;
    const { attempt, serviceParameters } = turn;
    const card = findAgentCard(scope.agent);
    const earlierRun = parseTraceContext(turn.earlierRun?.traceparent);
    const lostSince = turn.earlierRun?.lostSince;
    const parent = findParent(turn) ?? earlierRun ?? "none";
    const links = earlierRun ? [earlierRun] : [];
    const buildAttributes = (attemptOfSpan: number): SpanAttributes =>
      buildRunAttributes({
        card,
        taskId,
        contextId,
        attempt: attemptOfSpan,
        parentTaskId: serviceParameters.parentTask?.taskId,
      });
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
    return tracer.startSpan({
      name: `invoke_agent ${card.name}`,
      kind: "internal",
      parent,
      links,
      attributes: () => buildAttributes(attempt),
      task: describeTask(turn, task),
    });
  };
  const describeTask = (turn: TracedTurn, task: TracedTask): RunningTask => ({
    taskId: task.taskId,
    agent: findAgentCard(task.scope.agent).name,
    reportToolCall: turn.findCallReporter(task),
    record,
  });
  const unrecorded = { startSpan, describeTask };
  return {
    startRun(turn, task) {
      const tracer = getTracer();
      return tracer.records
        ? new RecordedRunSpan(startSpan(tracer, turn, task))
        : new UnrecordedRunSpan(turn, task, unrecorded);
    },
  };
}

/**
 * Returns the parent of a run: the span of the request, or the span of the caller. The span of the request is lost if
 * its process was killed, so that a later attempt is a child of the caller.
 */
function findParent({ serviceParameters, attempt }: TracedTurn): TraceContext | undefined {
  const { traceparent, tracestate, requestTraceparent } = serviceParameters;
  const caller = parseTraceContext(traceparent, tracestate);
  const request = parseTraceContext(requestTraceparent, tracestate);
  return attempt > 1 ? (caller ?? request) : (request ?? caller);
}

class RecordedRunSpan implements RunSpan {
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

interface UnrecordedRunSpanDependencies {
  readonly startSpan: (tracer: Tracer, turn: TracedTurn, task: TracedTask) => TracedSpan;
  readonly describeTask: (turn: TracedTurn, task: TracedTask) => RunningTask;
}

/**
 * The span of a run that nothing records. It creates its ids on first use, because most agents call no other agent. The
 * span is also the trace scope of the agent's work.
 */
class UnrecordedRunSpan implements RunSpan, TraceScope {
  readonly #turn: TracedTurn;
  readonly #task: TracedTask;
  readonly #dependencies: UnrecordedRunSpanDependencies;
  #context: TraceContext | undefined;

  constructor(turn: TracedTurn, task: TracedTask, dependencies: UnrecordedRunSpanDependencies) {
    this.#turn = turn;
    this.#task = task;
    this.#dependencies = dependencies;
  }

  get context(): TraceContext {
    return (this.#context ??= this.#dependencies.startSpan(getTracer(), this.#turn, this.#task).context);
  }

  get task(): RunningTask {
    return this.#dependencies.describeTask(this.#turn, this.#task);
  }

  get traceparent(): string {
    return formatTraceparent(this.context);
  }

  get tracestate(): string | undefined {
    return this.context.tracestate;
  }

  run<T>(work: () => T): T {
    return runInTraceScope(this, work);
  }

  end(): void {}
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
