import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Returns the bytes of all stored content. */
export const MEASURE_SIZE: PostgresStatement<readonly [], { readonly bytes: number }> = defineStatement(
  "colloquy_measure_size",
  "SELECT sum(bytes)::bigint AS bytes FROM colloquy.stored_size",
);
