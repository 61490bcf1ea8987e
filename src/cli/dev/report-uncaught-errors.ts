import { formatErrorStack } from "../../studio/dev/index.ts";

/**
 * Reports errors that agent code throws outside of a turn, for example in a timer. Without this function, such an error
 * ends the process. Returns a function that restores the default behavior.
 */
export function reportUncaughtErrors(write: (text: string) => void, cwd: string): () => void {
  const report = (error: unknown): void => {
    const lines = formatErrorStack(error, cwd).replaceAll(/^/gm, "  ");
    write(`An error outside of a turn was not caught; the server continues.\n${lines}\n`);
  };
  process.on("uncaughtException", report).on("unhandledRejection", report);
  return () => {
    process.off("uncaughtException", report).off("unhandledRejection", report);
  };
}
