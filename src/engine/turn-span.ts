import type { Run } from "./agent.ts";
import type { LiveTask } from "./live-task.ts";
import type { Observer } from "./observer.ts";
import type { TaskRunnerDependencies } from "./task-runner-dependencies.ts";
import type { Turn } from "./turn.ts";

/** Starts the span of a turn, which ends with the turn. Does nothing if runs are not traced, or if the turn has a span. */
export function startTurnSpan(
  turn: Turn,
  liveTask: LiveTask,
  { clock, observer, runTracing }: Pick<TaskRunnerDependencies, "clock" | "observer" | "runTracing">,
): void {
  if (!runTracing || turn.span) return;
  const { scope, taskId, contextId } = liveTask;
  const { attempt, earlierRun } = turn;
  const { traceparent, tracestate, requestTraceparent, parentTask } = turn.serviceParameters;
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
  turn.onEnd(() => span.end({ state: liveTask.state, error: turn.agentError }));
}

/** Returns a function that reports the calls of an agent, or `undefined` if nothing observes the calls. */
export function createCallReporter(
  observer: Observer,
  { scope, taskId }: Pick<LiveTask, "scope" | "taskId">,
): Run["reportCall"] {
  if (!observer.onAgentCall) return undefined;
  return (call) => observer.onAgentCall?.({ scope, taskId, call });
}
