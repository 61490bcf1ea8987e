import { writeFile } from "node:fs/promises";
import { createUsageError } from "../cli-error.ts";

/** Writes an output file to the path that the user specified. */
export async function writeOutputFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createUsageError(`${file} cannot be written (${why}).`, "Choose another file.", cause);
  }
}
