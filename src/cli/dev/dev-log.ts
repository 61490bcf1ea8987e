import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { styleText } from "node:util";
import type { Observer } from "../../engine/index.ts";
import { describeThrownValue, getSharedRedactor } from "../../observe/logging/index.ts";
import { replaceControlCharacters, truncateText } from "../../protocol/index.ts";
import { formatStack } from "../../studio/dev/index.ts";
import type { CliContext } from "../cli-context.ts";
import { showsColors } from "../terminal-streams.ts";

type Style = Parameters<typeof styleText>[0];

/** Maximum number of characters of a line of the source. */
const MAX_SOURCE_LENGTH = 160;
/** Maximum number of characters of a message, and of its frames. */
const MAX_TEXT_LENGTH = 16_384;
/** Maximum size in bytes of a file whose line the log shows. */
const MAX_SOURCE_FILE_BYTES = 4 * 2 ** 20;

/**
 * Creates the log of `colloquy dev` for people: a line for each turn, and for each error of an agent its place in the
 * source and the frames of the user's files. `log` writes everything else.
 */
export function createDevLog(
  log: Observer,
  { streams, stderrColumns, env, cwd }: Pick<CliContext, "streams" | "stderrColumns" | "env" | "cwd">,
): Observer {
  const hasColors = showsColors(stderrColumns, env);
  const paint = (style: Style, text: string): string =>
    hasColors ? styleText(style, text, { validateStream: false }) : text;
  const write = (text: string): void =>
    streams.errColored(`${paint("dim", new Date().toTimeString().slice(0, 8))} ${text}\n`);
  const turns = new Map<string, { readonly startedMs: number; hasError: boolean }>();
  return {
    ...log,
    onRun(seen) {
      log.onRun?.(seen);
      const { scope, taskId, phase, state } = seen;
      if (phase === "begin") {
        turns.set(taskId, { startedMs: performance.now(), hasError: false });
        return;
      }
      const { startedMs = performance.now(), hasError = false } = turns.get(taskId) ?? {};
      turns.delete(taskId);
      const durationMs = performance.now() - startedMs;
      // `onError` has described the failure. A canceled agent can also throw an error, which nothing reports.
      if (hasError && state === "TASK_STATE_FAILED") return;
      const outcome = state?.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", " ") ?? "stopped";
      const isGood = state === "TASK_STATE_COMPLETED";
      write(
        `${scope.agent} ${paint(isGood ? "green" : "yellow", outcome)} in ${Math.round(durationMs)} ms ${paint("dim", `task ${taskId}`)}`,
      );
    },
    onError(seen) {
      const { where, error, taskId, errorId } = seen;
      if (where !== "agent") return log.onError?.(seen);
      const turn = taskId === undefined ? undefined : turns.get(taskId);
      if (turn) turn.hasError = true;
      const { head, frames, causes } = splitStack(error);
      const ownFrames = formatStack(frames, cwd);
      const place = findPlace(ownFrames.split("\n"), cwd, turn && performance.timeOrigin + turn.startedMs);
      const ids = [
        taskId === undefined ? "" : `task ${taskId}`,
        errorId === undefined ? "" : `error id ${errorId}`,
      ];
      const rest = cleanText(formatStack(`${ownFrames}${causes}`, cwd));
      const lines = [
        `${paint("red", "failed")} ${cleanText(head)}`,
        ...(place ? [cleanText(place.source), paint("red", place.mark)] : []),
        ...(rest === "" ? [] : [paint("dim", `    ${rest}`)]),
        paint("dim", `    ${ids.filter(Boolean).join(", ")}`),
      ];
      write(lines.join("\n"));
    },
  };
}

/** Redacts text of strangers, and indents its lines, so that no line looks like an entry of the log. */
function cleanText(text: string): string {
  const redacted = getSharedRedactor().redactAndTruncate(text, MAX_TEXT_LENGTH);
  return replaceControlCharacters(redacted).replaceAll(/\n {0,4}/g, "\n    ");
}

/**
 * Splits the description of a thrown value. A message can contain the text of a caller, which can look like frames, and
 * must not choose the file that the log reads.
 */
function splitStack(error: unknown): Record<"head" | "frames" | "causes", string> {
  const { message, stack } = describeThrownValue(error);
  const start = stack === undefined || !(error instanceof Error) ? -1 : stack.indexOf(error.message);
  if (stack === undefined || start < 0) return { head: stack ?? message, frames: "", causes: "" };
  const end = start + (error as Error).message.length;
  const rest = stack.slice(end);
  const causesStart = rest.indexOf("\nCaused by: ");
  const frames = causesStart < 0 ? rest : rest.slice(0, causesStart);
  return { head: stack.slice(0, end), frames, causes: rest.slice(frames.length) };
}

/**
 * Finds the line of the source that the first frame names, and a mark below its column. `startedMs` is the time in
 * milliseconds since 1970 at which the turn began: a file that was saved later has other lines than the frame.
 */
function findPlace(
  frames: readonly string[],
  cwd: string,
  startedMs = Infinity,
): { readonly source: string; readonly mark: string } | undefined {
  const [, file = "", lineText, columnText] =
    frames
      .map((frame) => /^ *at (?:[^(]*\(|async )?([^()]+):(\d{1,7}):(\d{1,7})\)?$/.exec(frame))
      .find(Boolean) ?? [];
  if (lineText === undefined) return undefined;
  const source = readLine(resolve(cwd, file), Number(lineText), startedMs);
  if (source === undefined) return undefined;
  const margin = `    ${lineText} | `;
  const column = Math.min(Number(columnText) - 1, MAX_SOURCE_LENGTH);
  return {
    source: margin + truncateText(source, MAX_SOURCE_LENGTH),
    mark: `${" ".repeat(margin.length + column)}^`,
  };
}

function readLine(file: string, line: number, unchangedSinceMs: number): string | undefined {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > MAX_SOURCE_FILE_BYTES || stats.mtimeMs > unchangedSinceMs)
      return undefined;
    return readFileSync(file, "utf8").split("\n")[line - 1]?.trimEnd().replaceAll("\t", " ");
  } catch {
    return undefined;
  }
}
