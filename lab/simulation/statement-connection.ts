import type { TaskScope } from "../../src/engine/index.ts";
import type { PostgresStatement } from "../../src/stores/postgres/define-statement.ts";
import type { PostgresConnection } from "../../src/stores/postgres/postgres-pool.ts";
import {
  ANSWER_TASK_REQUEST,
  DELETE_TASK_REQUEST,
  INSERT_TASK_REQUEST,
  READ_CHANGES,
  RETURN_TASK_REQUEST,
  TAKE_TASK_ANSWERS,
  TAKE_TASK_REQUESTS,
} from "../../src/stores/postgres/statements/nodes.ts";
import {
  CLAIM_LOST_TASKS,
  CLAIM_TASKS,
  CLAIM_WAITING_TASKS,
  DELETE_NODE,
  DELETE_SILENT_NODES,
  FIND_FORGOTTEN_LEASES,
  FIND_LOST_LEASES,
  RELEASE_LEASE,
  RENEW_NODE,
} from "../../src/stores/postgres/statements/leases.ts";
import { toTaskKey, type SimulatedDatabase } from "./simulated-database.ts";
import type { StatementRunner } from "./simulated-store.ts";

/** Runs a statement with its parameters, and returns the rows. */
type StatementHandler = (parameters: readonly unknown[]) => unknown;

/**
 * Creates a connection that runs the statements of `PostgresTaskLeases` and `PostgresNodes` on the simulated database,
 * so that both classes take part in the simulation.
 */
export function createStatementConnection(
  database: SimulatedDatabase,
  run: StatementRunner,
): PostgresConnection {
  const handlers = new Map<string, StatementHandler>();
  const handle = <const Parameters extends readonly unknown[], Row>(
    { name }: PostgresStatement<Parameters, Row>,
    handler: (...parameters: [...Parameters]) => Row[] | Promise<Row[]> | void,
  ): void =>
    void handlers.set(
      name,
      (parameters) => handler(...([...parameters] as unknown as [...Parameters])) ?? [],
    );
  handle(RENEW_NODE, (node, renewal, leaseMs) => {
    const others = database.renewNode(node, renewal, leaseMs);
    return others.map((row) => ({ ...row, waiting_turns: 0 }));
  });
  handle(DELETE_NODE, (node) => database.deleteNode(node));
  handle(DELETE_SILENT_NODES, (nodes, renewals) => database.deleteSilentNodes(nodes, renewals));
  handle(RELEASE_LEASE, (node, scopeKey, taskId, epoch) =>
    database.release(node, toTaskKey(scopeKey, taskId), epoch),
  );
  handle(FIND_LOST_LEASES, (scopeKeys, taskIds, epochs) =>
    database.findLostLeases(toTaskKeys(scopeKeys, taskIds), epochs).map((position) => ({ position })),
  );
  handle(FIND_FORGOTTEN_LEASES, (node, scopeKeys, taskIds) =>
    database
      .findForgottenLeases(node, toTaskKeys(scopeKeys, taskIds))
      .map(({ scope, taskId, epoch }) => ({ ...toScopeRow(scope), taskId, epoch })),
  );
  const handleClaim = (statement: typeof CLAIM_TASKS, which?: "lost" | "waiting"): void =>
    handle(statement, async (node, agent, limit) => {
      const claimed = await database.claim(node, agent, limit, which);
      return claimed.map(
        ({ scope, taskId, contextId, seq, state, timestamp, turn, epoch, isCancelRequested }) => ({
          ...toScopeRow(scope),
          taskId,
          contextId,
          seq,
          state,
          timestamp,
          turn: turn === undefined ? null : JSON.stringify(turn),
          epoch,
          isCancelRequested: isCancelRequested ?? false,
        }),
      );
    });
  handleClaim(CLAIM_TASKS);
  handleClaim(CLAIM_LOST_TASKS, "lost");
  handleClaim(CLAIM_WAITING_TASKS, "waiting");
  handle(READ_CHANGES, (scopeKeys, taskIds, after, turnStatuses, maxBytes) =>
    database.readChanges(toTaskKeys(scopeKeys, taskIds), after, turnStatuses, maxBytes),
  );
  handle(INSERT_TASK_REQUEST, (id, scopeKey, taskId, kind, payload, timeoutMs) =>
    database.requests.insert(id, toTaskKey(scopeKey, taskId), kind, payload, timeoutMs) ? [{ id }] : [],
  );
  handle(TAKE_TASK_REQUESTS, (node) =>
    database.requests.take(node).map(({ id, kind, payload, lease: { scope, taskId } }) => ({
      id,
      kind,
      payload,
      ...toScopeRow(scope),
      taskId,
    })),
  );
  handle(RETURN_TASK_REQUEST, (id) => database.requests.giveBack(id));
  handle(ANSWER_TASK_REQUEST, (id, answer) => database.requests.answer(id, answer));
  handle(TAKE_TASK_ANSWERS, (ids) => database.requests.takeAnswers(ids));
  handle(DELETE_TASK_REQUEST, (id) => database.requests.delete(id));
  return {
    query: <Parameters extends readonly unknown[], Row>(
      { name }: PostgresStatement<Parameters, Row>,
      parameters: Parameters,
    ): Promise<Row[]> => {
      const handler = handlers.get(name);
      if (!handler) {
        const error = new Error(
          `The simulation has no statement ${name}; add it to ${import.meta.filename}.`,
        );
        // The engine would handle the error like a failure of the store.
        queueMicrotask(() => {
          throw error;
        });
        throw error;
      }
      return run(name.replace("colloquy_", ""), () => handler(parameters) as Promise<Row[]>);
    },
  };
}

function toScopeRow({ tenant, principal, agent }: TaskScope): TaskScope {
  return { tenant, principal, agent };
}

function toTaskKeys(scopeKeys: readonly string[], taskIds: readonly string[]): string[] {
  return scopeKeys.map((scopeKey, at) => toTaskKey(scopeKey, taskIds[at] ?? ""));
}
