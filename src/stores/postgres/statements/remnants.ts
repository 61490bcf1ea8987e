import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Finds a deleted task whose log can still have rows. */
export const FIND_REMNANT: PostgresStatement<readonly [], { readonly key: number }> = defineStatement(
  "colloquy_find_remnant",
  "SELECT key FROM colloquy.deleted_task LIMIT 1",
);

/** Forgets a deleted task without log rows. */
export const FORGET_REMNANT: PostgresStatement<readonly [key: number], never> = defineStatement(
  "colloquy_forget_remnant",
  "DELETE FROM colloquy.deleted_task WHERE key = $1",
);
