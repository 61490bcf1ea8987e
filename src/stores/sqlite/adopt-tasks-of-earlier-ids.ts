import type { SqlDatabase } from "./sql-database.ts";
import { recountTasks } from "./task-count-table.ts";

/**
 * Assigns the tasks that an older version of Colloquy stored under an earlier agent id to the current id. Call
 * the function only within a transaction. If both ids have tasks of the same caller, the caller has the tasks of
 * both. A second call changes nothing.
 */
export function adoptTasksOfEarlierIds(
  db: SqlDatabase,
  currentIdsByEarlierId: ReadonlyMap<string, string>,
): void {
  const selectEarlier = db.prepare("SELECT key, tenant, principal FROM scope WHERE agent = '/' || ?");
  const selectCurrent = db.prepare("SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?");
  const rename = db.prepare("UPDATE scope SET agent = ? WHERE key = ?");
  const moveTasks = db.prepare("UPDATE OR IGNORE task SET scope = ? WHERE scope = ?");
  const moveMessages = db.prepare("UPDATE OR IGNORE message SET scope = ? WHERE scope = ?");
  const moveWebhooks = db.prepare(
    "UPDATE push SET scope = (SELECT scope FROM task WHERE task.key = push.task) WHERE scope = ?",
  );
  for (const [earlierId, currentId] of currentIdsByEarlierId) {
    for (const { key, tenant = "", principal = "" } of selectEarlier.all(earlierId)) {
      const earlier = key as number;
      const current = selectCurrent.get(tenant, principal, currentId)?.["key"] as number | undefined;
      if (current === undefined) {
        rename.run(currentId, earlier);
        continue;
      }
      moveMessages.run(current, earlier);
      if (moveTasks.run(current, earlier).changes === 0) continue;
      moveWebhooks.run(earlier);
      for (const scope of [earlier, current]) recountTasks(db, scope);
    }
  }
}
