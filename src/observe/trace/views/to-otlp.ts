import type { JsonObject } from "../../../protocol/index.ts";
import { getTaskPeriod } from "../model/task-activities.ts";
import type { TrafficExchange } from "../model/traffic-exchange.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import { formatState } from "../model/traffic-sequence.ts";
import type { TrafficTask } from "../model/traffic-task.ts";

const SPAN_KINDS = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

/**
 * Converts a record to an OTLP/HTTP request body in JSON, which collectors accept at `/v1/traces`. Each agent is a
 * service. A task is a span, and contains the spans of its model calls, tool calls, and requests to other agents. The
 * trace id of a recorded `traceparent` is kept. Ids without one are derived from the ids of the tasks, so that repeated
 * exports have the same ids. The export contains no messages, prompts, or replies. With `tasks`, it contains only the
 * tasks with these keys.
 */
export function toTrafficOtlpTraces(model: TrafficModel, tasks?: ReadonlySet<string>): JsonObject {
  const roots = new Map<string, TrafficTask>();
  // The first request to a task has started the task. In a map, the last of several values with one key counts.
  const requests = model.exchanges.filter(({ parentTaskKey }) => parentTaskKey !== undefined).toReversed();
  const firstRequests = new Map(requests.map((request) => [request.taskKey, request]));
  const spans: ServiceSpan[] = [...model.tasks.values()].flatMap((task) =>
    !tasks || tasks.has(task.key)
      ? listTaskSpans(model, task, findRootTask(model, task, roots), firstRequests.get(task.key))
      : [],
  );
  return {
    resourceSpans: [...Map.groupBy(spans, ({ service }) => service)].map(([service, group]) => ({
      resource: { attributes: [toAttribute("service.name", service)] },
      scopeSpans: [{ scope: { name: "colloquy" }, spans: group.map(({ span }) => span) }],
    })),
  };
}

interface ServiceSpan {
  readonly service: string;
  readonly span: JsonObject;
}

/** Lists the span of a task, and the spans of its calls. `firstRequest` is the request that started the task. */
function listTaskSpans(
  model: TrafficModel,
  task: TrafficTask,
  root: TrafficTask,
  firstRequest: TrafficExchange | undefined,
): ServiceSpan[] {
  const service = task.agent ?? "agent";
  const [traceId = hashHex(root.key, 32)] = root.traceIds;
  const taskSpanId = hashHex(`task ${task.key}`, 16);
  const { startMs, endMs } = getTaskPeriod(task);
  const createSpan = (
    id: string,
    parent: string | undefined,
    span: Pick<SpanContent, "name" | "kind" | "startMs" | "endMs" | "attributes"> & {
      error?: string | undefined;
    },
  ): ServiceSpan => ({ service, span: encodeSpan({ traceId, spanId: hashHex(id, 16), parent, ...span }) });
  const isFailed = task.state === "TASK_STATE_FAILED" || task.state === "TASK_STATE_REJECTED";
  return [
    {
      service,
      span: encodeSpan({
        traceId,
        spanId: taskSpanId,
        name: `invoke_agent ${service}`,
        kind: "server",
        startMs,
        endMs,
        parent: firstRequest && hashHex(`request ${firstRequest.key}`, 16),
        error: isFailed ? formatState(task.state ?? "") : undefined,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": service,
          "a2a.task.id": task.id,
          ...(task.contextId !== undefined && { "gen_ai.conversation.id": task.contextId }),
          ...(task.state !== undefined && { "a2a.task.state": task.state }),
        },
      }),
    },
    ...model
      .listExchangesDuring(task.key)
      .filter((one) => one.taskKey !== undefined)
      .map((one) =>
        createSpan(`request ${one.key}`, taskSpanId, {
          name: `invoke_agent ${one.to}`,
          kind: "client",
          startMs: one.startMs,
          endMs: one.endMs ?? endMs,
          error: one.hasFailed ? "_OTHER" : undefined,
          attributes: {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": one.to,
            "rpc.method": one.operation,
          },
        }),
      ),
    ...task.modelCalls.map(({ line, timeMs }) =>
      createSpan(`model ${line.writer} ${line.seq}`, taskSpanId, {
        name: `chat ${line.model}`,
        kind: "client",
        startMs: timeMs - line.duration_ms,
        endMs: timeMs,
        error: line.error,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": line.model,
          ...(line.provider !== undefined && { "gen_ai.provider.name": line.provider }),
          ...(line.input_tokens !== undefined && { "gen_ai.usage.input_tokens": line.input_tokens }),
          ...(line.output_tokens !== undefined && { "gen_ai.usage.output_tokens": line.output_tokens }),
        },
      }),
    ),
    ...task.toolCalls.map(({ line, timeMs }) =>
      createSpan(`tool ${line.writer} ${line.seq}`, taskSpanId, {
        name: `execute_tool ${line.tool}`,
        kind: "internal",
        startMs: timeMs - line.duration_ms,
        endMs: timeMs,
        error: line.error,
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": line.tool },
      }),
    ),
  ];
}

/**
 * Returns the first task of the chain of calls that led to a task. `roots` keeps the result for all tasks on the way, so
 * that long chains take linear time. All tasks of a circle have the same root.
 */
function findRootTask(model: TrafficModel, task: TrafficTask, roots: Map<string, TrafficTask>): TrafficTask {
  const visited = new Set<string>();
  let root = task;
  for (let next: TrafficTask | undefined = task; next && !visited.has(next.key);) {
    root = roots.get(next.key) ?? next;
    visited.add(next.key);
    next = roots.has(next.key) ? undefined : model.tasks.get(model.findParentTaskKey(next.key) ?? "");
  }
  for (const key of visited) roots.set(key, root);
  return root;
}

interface SpanContent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: keyof typeof SPAN_KINDS;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly error?: string | undefined;
}

function encodeSpan({
  traceId,
  spanId,
  parent,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  error,
}: SpanContent): JsonObject {
  return {
    traceId,
    spanId,
    ...(parent !== undefined && { parentSpanId: parent }),
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(Math.max(startMs, endMs)),
    attributes: Object.entries(attributes).map(([key, value]) => toAttribute(key, value)),
    ...(error !== undefined && { status: { code: STATUS_ERROR, message: error } }),
  };
}

function toAttribute(key: string, value: string | number): JsonObject {
  return { key, value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) } };
}

/** JavaScript numbers represent microseconds since 1970 exactly, but not nanoseconds. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms * 1_000))) * 1_000n);
}

/** Computes an id of hexadecimal digits with FNV-1a. The id is not secret, and never zero. */
function hashHex(text: string, digits: 16 | 32): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const half = (hash === 0n ? 1n : hash).toString(16).padStart(16, "0");
  return digits === 16 ? half : half + hashHex(`${text} 2`, 16);
}
