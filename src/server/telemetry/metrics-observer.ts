import { A2AError, isInterrupted, isTerminal } from "../../protocol/index.ts";
import type { Engine, Observer, StoreGauges } from "../../engine/index.ts";
import type { Outbox } from "../../webhooks/index.ts";
import type { MetricRegistry } from "../../observe/telemetry/index.ts";
import type { OperationReport } from "./operation-observer.ts";

/** HTTP methods that become labels. Clients may send any other method. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "gRPC",
]);

/** Creates an observer that counts the activity of a server. `findAgentName` returns the name of an agent id. */
export function createMetricsObserver(
  metrics: MetricRegistry,
  findAgentName: (agentId: string) => string,
): Observer {
  const runStarts = new Map<string, number>();
  return {
    onRequest: ({ method, status, durationMs }) =>
      metrics.record("colloquy.request.duration", durationMs / 1000, {
        method: KNOWN_METHODS.has(method) ? method : "_OTHER",
        status: String(status),
      }),
    onRun({ scope, taskId, phase, error, state }) {
      const agent = findAgentName(scope.agent);
      const labels = { "gen_ai.agent.name": agent };
      metrics.add("colloquy.runs.active", phase === "begin" ? 1 : -1, labels);
      if (phase === "begin") {
        runStarts.set(taskId, performance.now());
        return;
      }
      const startMs = runStarts.get(taskId) ?? performance.now();
      runStarts.delete(taskId);
      metrics.record("gen_ai.invoke_agent.duration", (performance.now() - startMs) / 1000, {
        ...labels,
        "a2a.task.state": state,
        "error.type": error === undefined ? undefined : getErrorType(error),
      });
    },
    onEvent({ scope, event: { event } }) {
      if (!("statusUpdate" in event)) return;
      const { state } = event.statusUpdate.status;
      if (isTerminal(state) || isInterrupted(state))
        metrics.add("colloquy.tasks.ended", 1, {
          "gen_ai.agent.name": findAgentName(scope.agent),
          "a2a.task.state": state,
        });
    },
    onCommit({ events, durationMs, error }) {
      const outcome = error === undefined ? "succeeded" : "failed";
      metrics.record("colloquy.commit.duration", durationMs / 1000, { outcome });
      if (error === undefined) metrics.add("colloquy.commit.events", events);
    },
    onPush: ({ outcome }) => metrics.add("colloquy.push.deliveries", 1, { outcome }),
    onError: ({ where }) => metrics.add("colloquy.errors", 1, { where }),
    onCredentialsRejected: ({ scheme }) => metrics.add("colloquy.credentials.rejected", 1, { scheme }),
    onReaderStalled: ({ connections }) => metrics.add("colloquy.readers.stalled", connections),
    onSweep: ({ deletedTasks }) => metrics.add("colloquy.retention.deleted_tasks", deletedTasks),
  };
}

/** Counts an A2A request. */
export function recordOperation(metrics: MetricRegistry, report: OperationReport): void {
  const { operation, agentName, durationMs, errorType } = report;
  metrics.record("a2a.server.operation.duration", durationMs / 1000, {
    "a2a.method.name": operation,
    "gen_ai.agent.name": agentName,
    "error.type": errorType,
  });
}

/** Sets the numbers of waiting turns of an agent. */
export function setWaitingTurns(
  metrics: MetricRegistry,
  agentName: string,
  counts: Engine["waitingTurnCounts"],
): void {
  for (const [reason, count] of Object.entries(counts))
    metrics.set("colloquy.turns.waiting", count, { "gen_ai.agent.name": agentName, reason });
}

/** Sets the backlog of the push outbox. */
export function setPendingDeliveries(metrics: MetricRegistry, counts: Outbox["pendingDeliveryCounts"]): void {
  for (const [state, count] of Object.entries(counts)) metrics.set("colloquy.push.pending", count, { state });
}

/** Sets the metrics of a PostgreSQL store. */
export function setStoreGauges(metrics: MetricRegistry, { pool, leases }: StoreGauges): void {
  for (const state of ["max", "open", "busy"] as const)
    metrics.set("colloquy.store.connections", pool[state], { state });
  metrics.set("colloquy.store.waiting", pool.waiting);
  metrics.set("colloquy.leases.held", leases.held);
  metrics.set("colloquy.leases.claimed", leases.claimed);
  metrics.set("colloquy.leases.waiting", leases.waiting);
  metrics.set("colloquy.leases.duration", leases.durationMs / 1000);
  metrics.set("colloquy.leases.renewal_age", leases.sinceRenewalMs / 1000);
}

/** Names of error classes are few. Messages are many. */
function getErrorType(error: unknown): string {
  if (error instanceof A2AError) return error.reason;
  return error instanceof Error ? error.name : "_OTHER";
}
