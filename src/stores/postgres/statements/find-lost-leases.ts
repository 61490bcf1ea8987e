import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Finds the leases that another node has claimed. The result contains their positions in the arrays, from 1. */
export const FIND_LOST_LEASES: PostgresStatement<
  readonly [scopes: readonly string[], taskIds: readonly string[], epochs: readonly number[]],
  { readonly position: number }
> = defineStatement(
  "colloquy_find_lost_leases",
  `SELECT held.position
  FROM unnest($1::uuid[], $2::text[], $3::bigint[]) WITH ORDINALITY AS held (scope, task_id, epoch, position)
    JOIN colloquy.task AS task ON task.task_id = held.task_id AND task.scope = held.scope
  WHERE task.epoch > held.epoch`,
);
