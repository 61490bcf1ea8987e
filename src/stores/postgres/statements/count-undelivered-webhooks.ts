import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Counts the webhooks of a scope that may need deliveries, up to a limit. */
export const COUNT_UNDELIVERED_WEBHOOKS: PostgresStatement<
  readonly [scope: string, limit: number],
  { readonly count: number }
> = defineStatement(
  "colloquy_count_undelivered_webhooks",
  `SELECT count(*) AS count FROM (
    SELECT 1 FROM colloquy.push WHERE scope = $1::uuid AND owing LIMIT $2
  ) AS counted`,
);
