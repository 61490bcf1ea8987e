import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/**
 * Finds running tasks whose lease the node holds without knowing it, because the result of a claim or of a commit was
 * lost. The arrays contain the leases that the node knows.
 */
export const FIND_FORGOTTEN_LEASES: PostgresStatement<
  readonly [node: string, scopes: readonly string[], taskIds: readonly string[]],
  {
    readonly tenant: string;
    readonly principal: string;
    readonly agent: string;
    readonly task_id: string;
    readonly epoch: number;
  }
> = defineStatement(
  "colloquy_find_forgotten_leases",
  `SELECT tenant, principal, agent, task_id, epoch FROM colloquy.task AS task
  WHERE running AND lease_node = $1::uuid AND NOT EXISTS (
    SELECT 1 FROM unnest($2::uuid[], $3::text[]) AS held (scope, task_id)
    WHERE held.scope = task.scope AND held.task_id = task.task_id
  )`,
);
