import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Finds the task of a message. */
export const FIND_MESSAGE: PostgresStatement<
  readonly [scope: string, messageId: string],
  { readonly task_id: string; readonly seq: number }
> = defineStatement(
  "colloquy_find_message",
  `SELECT task.task_id, message.seq
  FROM colloquy.message AS message JOIN colloquy.task AS task ON task.key = message.task
  WHERE message.scope = $1::uuid AND message.message_id = $2`,
);
