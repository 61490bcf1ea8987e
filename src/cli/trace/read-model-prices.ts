import { readFileSync } from "node:fs";
import { decodeModelPrices, type ModelPrices } from "../../observe/trace/index.ts";
import { createUsageError } from "../cli-error.ts";

/** Reads the file of the option `--prices`. Returns `undefined` without the option. */
export function readModelPrices(file: string | undefined): ModelPrices | undefined {
  if (file === undefined) return undefined;
  try {
    return decodeModelPrices(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createUsageError(
      `--prices ${file} cannot be used: ${why}`,
      'Pass a file such as {"currency":"USD","models":{"acme/large":{"input":2.5,"output":10}}}.',
      cause,
    );
  }
}
