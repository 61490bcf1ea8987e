import { open } from "node:fs/promises";
import type { TrafficRecordOptions } from "../observe/trace/recording/index.ts";
import { createUsageError } from "./cli-error.ts";

/**
 * Checks that the file of the option `--record` can be written, and creates the file. The writer of a record only warns
 * about a file that it cannot open, because a server continues without its record.
 */
export async function assertRecordWritable(file: string): Promise<void> {
  try {
    await (await open(file, "a", 0o600)).close();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createUsageError(
      `The record ${file} cannot be written (${why}).`,
      "Pass another file with --record, in a folder that exists.",
      cause,
    );
  }
}

export function getRecordFilePath(record: string | TrafficRecordOptions): string {
  return typeof record === "string" ? record : record.file;
}
