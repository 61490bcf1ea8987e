import { formatLoadError } from "../../dev/index.ts";

/**
 * Reports errors that agent code throws outside of a turn, for example in a timer. Without this function, such an error
 * ends the process. Returns a function that restores the default behavior.
 */
export function reportUncaughtErrors(write: (text: string) => void, cwd: string): () => void {
  const report = async (error: unknown): Promise<void> => {
    const text = await formatLoadError(error, [], cwd);
    write(
      `An error outside of a turn was not caught; the server continues.\n${text.replaceAll(/^/gm, "  ")}\n`,
    );
  };
  process.on("uncaughtException", report).on("unhandledRejection", report);
  return () => process.off("uncaughtException", report).off("unhandledRejection", report);
}
