import type { ClaimedTask, FinishedStep, TaskScope, TurnStore } from "../../engine/index.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "../process-lease.ts";
import { decodeUnfinishedTask, type UnfinishedTaskRow } from "../stored-rows.ts";
import { toScope } from "../task-owner-scope-key.ts";
import type { HeldTaskLeases } from "./held-task-leases.ts";
import { decodeStatus, type StatusColumns } from "./status-columns.ts";
import { findTask } from "./task-reader.ts";
import type { SqlAccess, TaskTables } from "./task-tables.ts";

/** Decodes keys of steps. `ignoreBOM` keeps a byte order mark, which is part of the key. */
const KEY_DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the keys of up to `limit` tasks whose lease the process does not hold. */
function listClaimableKeys(
  { sql }: TaskTables,
  heldLeases: HeldTaskLeases,
  agent: string,
  limit: number,
): number[] {
  const keys: number[] = [];
  const running = sql.iterate<TaskScope & { key: number; taskId: string }>(
    `SELECT task.key AS key, task_id AS taskId, tenant, principal, agent
     FROM task JOIN scope ON scope.key = task.scope WHERE running = 1 AND agent = ?`,
    agent,
  );
  for (const { key, taskId, ...scope } of running) {
    if (!heldLeases.has(scope, taskId)) keys.push(key);
    if (keys.length === limit) break;
  }
  return keys;
}

/** Increments the epoch of a task. */
function claimTask({ sql }: TaskTables, key: number): ClaimedTask[] {
  const claimed = sql.get<{ epoch: number }>(
    "UPDATE task SET epoch = epoch + 1 WHERE key = ? RETURNING epoch",
    key,
  );
  const row = sql.get<Omit<UnfinishedTaskRow, "state" | "timestamp"> & StatusColumns>(
    `SELECT tenant, principal, agent, task_id AS taskId, context_id AS contextId, seq, state, timestamp, turn.json AS turn
     FROM task JOIN scope ON scope.key = task.scope LEFT JOIN turn ON turn.task = task.key WHERE task.key = ?`,
    key,
  );
  return row && claimed ? [{ ...decodeUnfinishedTask({ ...row, ...decodeStatus(row) }), ...claimed }] : [];
}

/** Creates the store of the turns in a database that only one process opens. */
export function createSqlTurnStore(access: SqlAccess, heldLeases: HeldTaskLeases): TurnStore {
  return {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => {
      const keys = await access.read((tables) => listClaimableKeys(tables, heldLeases, agent, limit));
      if (keys.length === 0) return [];
      let claimed: ClaimedTask[] = [];
      try {
        // Another claim can have begun since the query.
        return await access.write((tables) => {
          const claimable = listClaimableKeys(tables, heldLeases, agent, limit);
          claimed = claimable.flatMap((key) => claimTask(tables, key));
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
    listQueued: () =>
      access.read(({ sql }) =>
        sql
          .all<TaskScope & { taskId: string }>(
            `SELECT tenant, principal, agent, task_id AS taskId FROM (SELECT DISTINCT task AS queue FROM queued_turn)
               JOIN task ON task.key = queue JOIN scope ON scope.key = task.scope`,
          )
          .map((row) => ({ scope: toScope(row), taskId: row.taskId })),
      ),
    isUnchanged: (scope, taskId, { seq, epoch }) =>
      access.read(
        (tables) => {
          const row = findTask(tables, scope, taskId);
          if (!row || row.seq !== seq || row.epoch !== epoch || row.running === 1) return false;
          return tables.sql.get("SELECT 1 FROM queued_turn WHERE task = ? LIMIT 1", row.key) === undefined;
        },
        () => access.isInDoubt(scope, taskId),
      ),
    readSteps: (scope, taskId, turnSeq) =>
      access.read(
        (tables) => {
          const task = findTask(tables, scope, taskId);
          if (!task) return [];
          // Deno and Node.js 22.18 end a text that they read at its first null character.
          const rows = tables.sql.all<{ keyBytes: Uint8Array; json: string }>(
            "SELECT CAST(key AS BLOB) AS keyBytes, json FROM finished_step WHERE task = ? AND turn_seq = ? ORDER BY rowid",
            task.key,
            turnSeq,
          );
          return rows.map(({ keyBytes, json }): FinishedStep => ({
            turnSeq,
            key: KEY_DECODER.decode(keyBytes),
            json,
          }));
        },
        () => access.isInDoubt(scope, taskId),
      ),
  };
}
