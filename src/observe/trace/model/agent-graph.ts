import type { TrafficExchange } from "./traffic-exchange.ts";
import type { TrafficModel } from "./traffic-model.ts";
import { addModelLineUsage, addUsage, NO_USAGE, type TokenUsage } from "../prices/token-usage.ts";

/** A party in the graph: an agent, a client, a language model, or a tool. */
export interface TrafficGraphNode {
  readonly name: string;
  readonly kind: "agent" | "client" | "model" | "tool";
  /** Number of tasks of an agent. */
  readonly tasks: number;
  /** Usage of the model calls that an agent made. */
  readonly usage: TokenUsage;
}

/** The requests from one party to another. */
export interface TrafficGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: "a2a" | "model" | "tool";
  readonly count: number;
  readonly errors: number;
  /** Durations of the finished requests in milliseconds, in ascending order. */
  readonly durationsMs: readonly number[];
  /** Size of the responses in bytes. */
  readonly bytes: number;
  /** Who observed the requests, from the observer nearest to the caller. A broken connection is an error only for clients. */
  readonly observers: ReadonlySet<string>;
  /** Usage of the model calls on this edge, or of the tasks that the requests started. */
  readonly usage: TokenUsage;
}

export interface TrafficGraph {
  readonly nodes: readonly TrafficGraphNode[];
  readonly edges: readonly TrafficGraphEdge[];
}

/**
 * Builds the graph of the requests between agents, models, and tools. With `tasks`, the graph contains only these tasks. Operations that only read,
 * such as `GetTask`, count as requests of the same edge.
 */
export function buildTrafficGraph(model: TrafficModel, tasks?: ReadonlySet<string>): TrafficGraph {
  const nodes = new Map<string, { kind: TrafficGraphNode["kind"]; tasks: number; usage: TokenUsage }>();
  const edges = new Map<string, MutableGraphEdge>();
  const getNode = (name: string, kind: TrafficGraphNode["kind"]) => {
    const node = nodes.get(name) ?? { kind, tasks: 0, usage: NO_USAGE };
    nodes.set(name, node);
    return node;
  };
  const getEdge = (from: string, to: string, kind: TrafficGraphEdge["kind"]): MutableGraphEdge => {
    const key = JSON.stringify([from, to, kind]);
    const edge = edges.get(key) ?? {
      from,
      to,
      kind,
      count: 0,
      errors: 0,
      bytes: 0,
      durationsMs: [],
      observers: new Set<string>(),
      usage: NO_USAGE,
    };
    edges.set(key, edge);
    return edge;
  };
  const countedTasks = new Set<string>();
  const isIncluded = (key: string | undefined): boolean => !tasks || (key !== undefined && tasks.has(key));

  for (const exchange of model.exchanges) {
    if (!isIncluded(exchange.taskKey)) continue;
    getNode(exchange.from, model.agents.has(exchange.from) ? "agent" : "client");
    getNode(exchange.to, "agent");
    addExchange(getEdge(exchange.from, exchange.to, "a2a"), exchange, model, countedTasks);
  }
  for (const task of model.tasks.values()) {
    if (!isIncluded(task.key)) continue;
    const agent = task.agent ?? "agent";
    const node = getNode(agent, "agent");
    node.tasks += 1;
    for (const { line } of task.modelCalls) {
      node.usage = addModelLineUsage(node.usage, line);
      getNode(line.model, "model");
      const edge = getEdge(agent, line.model, "model");
      edge.usage = addModelLineUsage(edge.usage, line);
      addCall(edge, line.duration_ms, line.error !== undefined);
    }
    for (const { line } of task.toolCalls) {
      const name = line.server === undefined ? line.tool : `${line.server}/${line.tool}`;
      getNode(name, "tool");
      addCall(getEdge(agent, name, "tool"), line.duration_ms, line.error !== undefined);
    }
  }
  return {
    nodes: [...nodes].map(([name, node]) => ({ name, ...node })),
    edges: [...edges.values()].map((edge) => ({
      ...edge,
      durationsMs: edge.durationsMs.toSorted((a, b) => a - b),
    })),
  };
}

type MutableGraphEdge = { -readonly [Member in keyof TrafficGraphEdge]: TrafficGraphEdge[Member] } & {
  durationsMs: number[];
  observers: Set<string>;
};

function addExchange(
  edge: MutableGraphEdge,
  exchange: TrafficExchange,
  model: TrafficModel,
  countedTasks: Set<string>,
): void {
  const { startMs, endMs, hasFailed, bytes, taskKey, operation, calls } = exchange;
  addCall(edge, endMs === undefined ? undefined : endMs - startMs, hasFailed);
  edge.bytes += bytes;
  const [{ vantage = "unknown" } = {}] = calls;
  edge.observers.add(vantage);
  const task = operation.startsWith("Send") ? model.tasks.get(taskKey ?? "") : undefined;
  if (!task || countedTasks.has(task.key)) return;
  // Each task counts once, with its first message.
  countedTasks.add(task.key);
  edge.usage = addUsage(edge.usage, task.usage);
}

function addCall(edge: MutableGraphEdge, durationMs: number | undefined, isError: boolean): void {
  edge.count += 1;
  if (isError) edge.errors += 1;
  if (durationMs !== undefined) edge.durationsMs.push(durationMs);
}
