import { writeFile } from "node:fs/promises";
import { Problem } from "../problem.ts";

/** Writes a file that the user has named. */
export async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Problem("A2ACLI_ERR_USAGE", `${file} cannot be written (${why}).`, "Name another file.", cause);
  }
}
