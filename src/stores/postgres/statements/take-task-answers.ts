import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Deletes the answered requests among the given requests, and returns their answers. */
export const TAKE_TASK_ANSWERS: PostgresStatement<
  readonly [ids: readonly string[]],
  { readonly id: string; readonly answer: string }
> = defineStatement(
  "colloquy_take_task_answers",
  `DELETE FROM colloquy.task_request WHERE id = ANY ($1::uuid[]) AND answer IS NOT NULL RETURNING id, answer`,
);
