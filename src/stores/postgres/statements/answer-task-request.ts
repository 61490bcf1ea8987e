import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Stores the answer to a request. */
export const ANSWER_TASK_REQUEST: PostgresStatement<readonly [id: string, answer: string], never> =
  defineStatement(
    "colloquy_answer_task_request",
    `UPDATE colloquy.task_request SET answer = $2 WHERE id = $1::uuid`,
  );
