import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { styleText } from "node:util";
import type { Observer } from "../../engine/index.ts";
import { getSharedRedactor } from "../../observe/logging/index.ts";
import { formatErrorStack } from "../../studio/dev/index.ts";
import type { CliContext } from "../cli-context.ts";
import { showsColors } from "../terminal-streams.ts";

type Style = Parameters<typeof styleText>[0];

/** Maximum number of characters of a line of the source. */
const MAX_SOURCE_LENGTH = 160;

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
  const startedAt = new Map<string, number>();
  return {
    ...log,
    onRun(seen) {
      log.onRun?.(seen);
      const { scope, taskId, phase, state, error } = seen;
      if (phase === "begin") {
        startedAt.set(taskId, performance.now());
        return;
      }
      const durationMs = performance.now() - (startedAt.get(taskId) ?? performance.now());
      startedAt.delete(taskId);
      // `onError` describes the failure.
      if (error !== undefined) return;
      const outcome = state?.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", " ") ?? "stopped";
      const isGood = state === "TASK_STATE_COMPLETED";
      write(
        `${scope.agent} ${paint(isGood ? "green" : "yellow", outcome)} in ${Math.round(durationMs)} ms ${paint("dim", `task ${taskId}`)}`,
      );
    },
    onError(seen) {
      const { where, error, taskId, errorId } = seen;
      if (where !== "agent") return log.onError?.(seen);
      const [message = "", ...frames] = getSharedRedactor()
        .redactText(formatErrorStack(error, cwd))
        .split("\n");
      const place = findPlace(frames, cwd);
      const ids = [
        taskId === undefined ? "" : `task ${taskId}`,
        errorId === undefined ? "" : `error id ${errorId}`,
      ];
      const lines = [
        `${paint("red", "failed")} ${message}`,
        ...(place ? [place.source, paint("red", place.mark)] : []),
        ...frames.map((frame) => paint("dim", frame)),
        paint("dim", `    ${ids.filter(Boolean).join(", ")}`),
      ];
      write(lines.join("\n"));
    },
  };
}

/** Finds the line of the source that the first frame names, and a mark below its column. */
function findPlace(
  frames: readonly string[],
  cwd: string,
): { readonly source: string; readonly mark: string } | undefined {
  const [, file = "", lineText, columnText] =
    frames.map((frame) => /(?:\(|at )([^()\s]+):(\d{1,7}):(\d{1,7})\)?$/.exec(frame)).find(Boolean) ?? [];
  if (lineText === undefined) return undefined;
  const source = readLine(resolve(cwd, file), Number(lineText));
  if (source === undefined) return undefined;
  const margin = `    ${lineText} | `;
  const column = Math.min(Number(columnText) - 1, MAX_SOURCE_LENGTH);
  return {
    source: getSharedRedactor().redactText(margin + source.slice(0, MAX_SOURCE_LENGTH)),
    mark: `${" ".repeat(margin.length + column)}^`,
  };
}

function readLine(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, "utf8").split("\n")[line - 1]?.replaceAll("\t", " ");
  } catch {
    return undefined;
  }
}
