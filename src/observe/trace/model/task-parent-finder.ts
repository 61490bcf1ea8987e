import { parseTraceparent } from "../../../protocol/index.ts";
import type { TrafficCall } from "./traffic-call.ts";
import type { TrafficTask } from "./traffic-task.ts";

/** Maximum number of spans between a request and the task that made it. */
const MAX_SPAN_DISTANCE = 64;

/**
 * Finds the task during which a request was made. The sources in order of reliability: the parent that a line states,
 * the spans between the request and a task, a task of the calling agent in the same trace, and a referenced task.
 */
export class TaskParentFinder {
  readonly #tasks: ReadonlyMap<string, TrafficTask>;
  readonly #taskKeysBySpan: ReadonlyMap<string, string>;
  readonly #parentSpans: ReadonlyMap<string, string>;
  readonly #findTaskKey: (id: string) => string | undefined;
  readonly #tasksByTrace = new Map<string, TrafficTask[]>();

  constructor(
    tasks: ReadonlyMap<string, TrafficTask>,
    taskKeysBySpan: ReadonlyMap<string, string>,
    parentSpans: ReadonlyMap<string, string>,
    findTaskKey: (id: string) => string | undefined,
  ) {
    this.#tasks = tasks;
    this.#taskKeysBySpan = taskKeysBySpan;
    this.#parentSpans = parentSpans;
    this.#findTaskKey = findTaskKey;
    for (const task of tasks.values())
      for (const traceId of task.traceIds) {
        const known = this.#tasksByTrace.get(traceId);
        if (known) known.push(task);
        else this.#tasksByTrace.set(traceId, [task]);
      }
  }

  /** Returns the key of the task during which a request was made, or `undefined` for a request from outside. */
  findParentTaskKey(calls: readonly TrafficCall[], taskKey: string | undefined): string | undefined {
    const task = taskKey === undefined ? undefined : this.#tasks.get(taskKey);
    const stated =
      calls.find((call) => call.request?.line.parent)?.request?.line.parent ?? task?.statedParent;
    const found =
      (stated && (this.#findTaskKey(stated.task_id) ?? stated.task_id)) ??
      this.#findBySpans(calls) ??
      this.#findByTrace(calls, task) ??
      this.#findByReference(calls);
    return found === taskKey ? undefined : found;
  }

  #findBySpans(calls: readonly TrafficCall[]): string | undefined {
    for (const call of calls) {
      let span = parseTraceparent(call.request?.line.traceparent)?.spanId;
      for (let distance = 0; span !== undefined && distance < MAX_SPAN_DISTANCE; distance++) {
        const owner = this.#taskKeysBySpan.get(span);
        if (owner !== undefined && owner !== call.taskKey) return owner;
        span = this.#parentSpans.get(span);
      }
    }
    return undefined;
  }

  /** Returns the latest task of the trace that was at work when the request began. */
  #findByTrace(calls: readonly TrafficCall[], task: TrafficTask | undefined): string | undefined {
    const request = calls[0]?.request;
    const traceId = parseTraceparent(request?.line.traceparent)?.traceId;
    if (!request || traceId === undefined) return undefined;
    const { from, to } = request.line;
    const candidates = (this.#tasksByTrace.get(traceId) ?? []).filter(
      (other) =>
        other !== task &&
        other.startMs < request.timeMs &&
        other.lastMs >= request.timeMs &&
        (from === undefined ? other.agent !== to : other.agent === from),
    );
    return findLatestStarted(candidates)?.key;
  }

  /** A message that refers to a running task of another agent was probably sent by that agent. */
  #findByReference(calls: readonly TrafficCall[]): string | undefined {
    const request = calls[0]?.request;
    const candidates = (request?.line.reference_task_ids ?? []).flatMap((id) => {
      const other = this.#tasks.get(this.#findTaskKey(id) ?? "");
      const isAtWork =
        other !== undefined &&
        request !== undefined &&
        other.agent !== request.line.to &&
        other.startMs < request.timeMs &&
        other.lastMs >= request.timeMs;
      return isAtWork ? [other] : [];
    });
    return findLatestStarted(candidates)?.key;
  }
}

function findLatestStarted(tasks: readonly TrafficTask[]): TrafficTask | undefined {
  let latest: TrafficTask | undefined;
  for (const task of tasks)
    if (
      !latest ||
      task.startMs > latest.startMs ||
      (task.startMs === latest.startMs && task.key < latest.key)
    )
      latest = task;
  return latest;
}
