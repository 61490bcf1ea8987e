import type { ClaimedTask, Clock } from "../../src/engine/index.ts";
import type { PostgresStatement } from "../../src/stores/postgres/define-statement.ts";
import type { PostgresConnection } from "../../src/stores/postgres/postgres-pool.ts";
import { CLAIM_TASKS } from "../../src/stores/postgres/statements/claim-tasks.ts";
import { DELETE_NODES } from "../../src/stores/postgres/statements/delete-nodes.ts";
import { FIND_FORGOTTEN_LEASES } from "../../src/stores/postgres/statements/find-forgotten-leases.ts";
import { FIND_LOST_LEASES } from "../../src/stores/postgres/statements/find-lost-leases.ts";
import { RELEASE_LEASE } from "../../src/stores/postgres/statements/release-lease.ts";
import { RENEW_NODE } from "../../src/stores/postgres/statements/renew-node.ts";
import { toLeaseKey, type SimulatedDatabase } from "./simulated-database.ts";
import type { StatementRunner } from "./simulated-store.ts";

type LeaseStatement = (parameters: readonly never[]) => unknown;

/** Creates a connection that runs the statements of `PostgresTaskLeases` on the simulated database. */
export function connectLeases(
  database: SimulatedDatabase,
  run: StatementRunner,
  clock: Clock,
): PostgresConnection {
  const statements = new Map<string, LeaseStatement>([
    [RENEW_NODE.name, ([node, leaseMs]) => database.renewNode(node as never, leaseMs as never) ?? []],
    [DELETE_NODES.name, ([node]) => database.deleteNode(node as never) ?? []],
    [
      RELEASE_LEASE.name,
      ([node, scopeKey, taskId, epoch]) =>
        database.release(node as never, toLeaseKey(scopeKey as never, taskId as never), epoch as never) ?? [],
    ],
    [
      FIND_LOST_LEASES.name,
      ([scopeKeys, taskIds, epochs]) =>
        database
          .findLostLeases(toLeaseKeys(scopeKeys, taskIds), epochs as never)
          .map((position) => ({ position })),
    ],
    [
      FIND_FORGOTTEN_LEASES.name,
      ([node, scopeKeys, taskIds]) =>
        database
          .findForgottenLeases(node as never, toLeaseKeys(scopeKeys, taskIds))
          .map(({ scope, taskId, epoch }) => ({ ...scope, task_id: taskId, epoch })),
    ],
    [
      CLAIM_TASKS.name,
      async ([node, agent, limit]) =>
        (await database.claim(node as never, agent as never, limit as never, clock.now())).map(toClaimRow),
    ],
  ]);
  return {
    query: <Parameters extends readonly unknown[], Row>(
      { name }: PostgresStatement<Parameters, Row>,
      parameters: Parameters,
    ): Promise<Row[]> => {
      const statement = statements.get(name);
      if (!statement)
        throw new Error(`The simulation has no statement ${name}; add it to lease-connection.ts.`);
      return run(name, () => statement(parameters as never) as Promise<Row[]>);
    },
  };
}

function toLeaseKeys(scopeKeys: readonly string[] = [], taskIds: readonly string[] = []): string[] {
  return scopeKeys.map((scopeKey, at) => toLeaseKey(scopeKey, taskIds[at] ?? ""));
}

function toClaimRow({ scope, taskId, contextId, seq, state, timestamp, turn, epoch }: ClaimedTask): object {
  return {
    ...scope,
    task_id: taskId,
    context_id: contextId,
    seq,
    state,
    status_time: timestamp,
    turn: turn === undefined ? null : JSON.stringify(turn),
    epoch,
  };
}
