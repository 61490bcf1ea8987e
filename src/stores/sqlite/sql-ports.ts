import type { ClaimedTask, PushStore, TaskScope, TurnStore } from "../../engine/index.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "../process-lease.ts";
import type { TaskOverview, TextIndex } from "../server-store.ts";
import type { HeldTaskLeases } from "./held-task-leases.ts";
import type { PushTable } from "./push-table.ts";
import type { TaskTables } from "./task-tables.ts";

/** Access to the tables of an open database. Each function rejects or throws `UNAVAILABLE` if the store is closed. */
export interface SqlAccess {
  /**
   * Resolves with the result of a query once all data that the query has read is durable. After a disk failure, rejects
   * if `isInDoubt` returns true for the result. By default, every result is in doubt.
   */
  readonly read: <T>(query: (tables: TaskTables) => T, isInDoubt?: (result: T) => boolean) => Promise<T>;
  /** Runs a transaction, and resolves with its result once the transaction is durable. */
  readonly write: <T>(work: (tables: TaskTables) => T) => Promise<T>;
  /** Changes webhooks, like `write`. */
  readonly writePush: <T>(work: (pushTable: PushTable) => T) => Promise<T>;
  /** Returns true if a disk failure has left appends of the task in doubt. */
  readonly isInDoubt: (scope: TaskScope, taskId: string) => boolean;
}

export function createSqlTurnStore(access: SqlAccess, heldLeases: HeldTaskLeases): TurnStore {
  return {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => {
      const keys = await access.read(({ leaseTable }) => leaseTable.listClaimableKeys(agent, limit));
      if (keys.length === 0) return [];
      let claimed: ClaimedTask[] = [];
      try {
        // Another claim can have begun since the query.
        return await access.write(({ leaseTable }) => {
          claimed = leaseTable.claimTasks(leaseTable.listClaimableKeys(agent, limit));
          for (const lease of claimed) heldLeases.hold(lease);
          return claimed;
        });
      } catch (error) {
        for (const lease of claimed) heldLeases.release(lease);
        throw error;
      }
    },
    renew: async () => [],
    release: async (lease) => heldLeases.release(lease),
    listQueued: () => access.read(({ reader }) => reader.listTasksWithQueuedTurns()),
    isUnchanged: (scope, taskId, loaded) =>
      access.read(
        ({ reader }) => reader.isTaskUnchanged(scope, taskId, loaded),
        () => access.isInDoubt(scope, taskId),
      ),
    readSteps: (scope, taskId, turnSeq) =>
      access.read(
        ({ reader }) => reader.readSteps(scope, taskId, turnSeq),
        () => access.isInDoubt(scope, taskId),
      ),
  };
}

export function createSqlPushStore({ read, writePush }: SqlAccess): PushStore {
  return {
    put: (scope, taskId, registration) => writePush((push) => push.put(scope, taskId, registration)),
    get: (scope, taskId, id) => read(({ pushTable }) => pushTable.get(scope, taskId, id)),
    list: (scope, taskId) => read(({ pushTable }) => pushTable.list(scope, taskId)),
    remove: (scope, taskId, id) => writePush((push) => push.remove(scope, taskId, id)),
    claim: (scope, taskId, now) => read(({ pushTable }) => pushTable.claim(scope, taskId, now)),
    claimDue: (query) => read(({ pushTable }) => pushTable.claimDue(query)),
    findRetries: (now) => read(({ pushTable }) => pushTable.findRetries(now)),
    saveProgress: (progress) => writePush((push) => push.saveProgress(progress)),
    countUndelivered: (scope, limit) => read(({ pushTable }) => pushTable.countUndelivered(scope, limit)),
    listDeadWebhooks: (limit) => read(({ pushTable }) => pushTable.listDeadWebhooks(limit)),
  };
}

export function createSqlTaskOverview({ read, isInDoubt }: SqlAccess, textIndex: TextIndex): TaskOverview {
  return {
    textIndex,
    list: (query) =>
      read(
        ({ overviewReader }) => overviewReader.list(query),
        ({ tasks }) => tasks.some(({ scope, taskId }) => isInDoubt(scope, taskId)),
      ),
    findScope: (agent, taskId) => read(({ overviewReader }) => overviewReader.findScope(agent, taskId)),
  };
}
