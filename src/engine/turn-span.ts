import type { Run } from "./agent.ts";
import type { LiveTask } from "./live-task.ts";
import type { Observer } from "./observer.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { Turn } from "./turn.ts";

/**
 * Starts the span of a turn, which ends with the turn. Does nothing if runs are not traced, or if the turn has a span. A
 * turn whose span cannot start continues without a span, because traces must not affect tasks.
 */
export function startTurnSpan(
  turn: Turn,
  liveTask: LiveTask,
  { clock, observer, runTracing }: Pick<TurnDependencies, "clock" | "observer" | "runTracing">,
): void {
  if (!runTracing || turn.span) return;
  const { scope, taskId, contextId } = liveTask;
  const { attempt, earlierRun } = turn;
  const { traceparent, tracestate, requestTraceparent, parentTask } = turn.serviceParameters;
  const reportError = (error: unknown): void => observer.onError?.({ where: "telemetry", error, taskId });
  try {
    const span = runTracing.startRun({
      agentId: scope.agent,
      taskId,
      contextId,
      attempt,
      earlierRun,
      reportCall: createCallReporter(observer, liveTask),
      traceparent,
      tracestate,
      requestTraceparent,
      parentTask,
    });
    turn.span = span;
    turn.spanStartedAt = clock.now();
    turn.onEnd(() => {
      try {
        span.end({ state: liveTask.state, error: turn.agentError });
      } catch (error) {
        reportError(error);
      }
    });
  } catch (error) {
    reportError(error);
  }
}

/** Returns a function that reports the calls of an agent, or `undefined` if nothing observes the calls. */
export function createCallReporter(
  observer: Observer,
  { scope, taskId }: Pick<LiveTask, "scope" | "taskId">,
): Run["reportCall"] {
  if (!observer.onAgentCall) return undefined;
  return (call) => observer.onAgentCall?.({ scope, taskId, call });
}
