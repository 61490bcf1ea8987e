import type { SqlDatabase } from "./sql-database.ts";
import type { QueuedTurnData } from "../../engine/index.ts";
import type { TaskPushNotificationConfig } from "../../protocol/index.ts";
import type { PushConfigOwnerTask, PushSecretCipher } from "../push-secret-cipher.ts";

const SELECT_TASK_OWNER = `
  JOIN task ON task.key = stored.task JOIN scope ON scope.key = task.scope`;

/**
 * Encrypts the secrets of webhooks and of queued messages that an earlier version stored as plain text. Call the function
 * within a transaction. The replaced content is overwritten in the file.
 */
export function sealStoredPushSecrets(db: SqlDatabase, cipher: PushSecretCipher | undefined): void {
  const seal = <T extends TaskPushNotificationConfig>(config: T, row: Record<string, unknown>): T => {
    if (!cipher) throw new Error("a database with push configurations requires a cipher for its migration");
    const { tenant, principal, taskId } = row as unknown as PushConfigOwnerTask;
    return cipher.seal(config, { tenant, principal, taskId });
  };
  const updateConfig = db.prepare("UPDATE push SET config = ? WHERE key = ?");
  const webhooks = db.prepare(
    `SELECT stored.key AS key, config, tenant, principal, task_id AS taskId FROM push AS stored ${SELECT_TASK_OWNER}`,
  );
  for (const row of webhooks.all()) {
    const config = JSON.parse(row["config"] as string) as TaskPushNotificationConfig;
    updateConfig.run(JSON.stringify(seal(config, row)), row["key"] as number);
  }
  const updateTurn = db.prepare("UPDATE queued_turn SET json = ? WHERE task = ? AND position = ?");
  const queuedTurns = db.prepare(
    `SELECT stored.task AS task, position, json, tenant, principal, task_id AS taskId
     FROM queued_turn AS stored ${SELECT_TASK_OWNER}`,
  );
  for (const row of queuedTurns.all()) {
    const turn = JSON.parse(row["json"] as string) as QueuedTurnData;
    if (!turn.webhook) continue;
    const json = JSON.stringify({ ...turn, webhook: seal(turn.webhook, row) });
    updateTurn.run(json, row["task"] as number, row["position"] as number);
  }
}
