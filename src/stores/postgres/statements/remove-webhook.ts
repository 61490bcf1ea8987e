import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Removes a webhook. Returns no row if the task does not exist. */
export const REMOVE_WEBHOOK: PostgresStatement<
  readonly [scope: string, taskId: string, id: string],
  { readonly key: number }
> = defineStatement(
  "colloquy_remove_webhook",
  `WITH owner AS MATERIALIZED (SELECT key FROM colloquy.task WHERE task_id = $2 AND scope = $1::uuid),
  removed AS (DELETE FROM colloquy.push AS push USING owner WHERE push.task = owner.key AND push.id = $3)
  SELECT key FROM owner`,
);
