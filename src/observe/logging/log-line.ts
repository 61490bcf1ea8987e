import { replaceControlCharacters } from "../../protocol/index.ts";
import { getSharedRedactor } from "./redactor.ts";

/** Format of log lines: JSON for programs, or text for people. */
export type LogFormat = "json" | "pretty";

/** An entry of the log. The log omits members that are `undefined`. */
export interface LogEntry {
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly level: "error" | "warn" | "info";
  /** Component that reports the entry, for example `agent`. */
  readonly where: string;
  readonly message: string;
  readonly taskId?: string | undefined;
  /** Id of the distributed trace, as in `traceparent`. */
  readonly traceId?: string | undefined;
  /** Id that the caller of the failed request receives instead of the cause. */
  readonly errorId?: string | undefined;
  /** Stack of the error, followed by the stacks of its causes. */
  readonly stack?: string | undefined;
}

/** Maximum number of characters of a message or of a stack. */
const MAX_TEXT_LENGTH = 16_384;
const MAX_CAUSES = 5;

/** Formats an entry as one JSON line, or as text in which the stack follows the message. Redacts secrets. */
export function formatLogEntry(entry: LogEntry, format: LogFormat): string {
  const redactor = getSharedRedactor();
  const message = redactor.redactAndTruncate(entry.message, MAX_TEXT_LENGTH);
  const stack = entry.stack && redactor.redactAndTruncate(entry.stack, MAX_TEXT_LENGTH);
  const { time, level, where, taskId, traceId, errorId } = entry;
  if (format === "json")
    return `${replaceControlCharacters(JSON.stringify({ time, level, where, message, taskId, traceId, errorId, stack }), toJsonEscape)}\n`;
  const ids = [taskId && `task ${taskId}`, errorId && `error id ${errorId}`].filter(Boolean).join(", ");
  const head = `${time.slice(11, 19)} ${level} ${where}${ids && ` (${ids})`}: `;
  return `${head}${indentLines(replaceControlCharacters(stack ?? message, toJsonEscape))}\n`;
}

/** Indents all lines after the first, so that the text of a stranger cannot look like an entry of the log. */
function indentLines(text: string): string {
  return text.replaceAll(/\n {0,4}/g, "\n    ");
}

/** Returns the message and the stack of a thrown value, including the causes of an error. */
export function describeThrownValue(thrown: unknown): Pick<LogEntry, "message" | "stack"> {
  if (!(thrown instanceof Error)) return { message: stringifyThrownValue(thrown) };
  const stacks: string[] = [];
  for (
    let error: unknown = thrown;
    error !== undefined && stacks.length < MAX_CAUSES;
    error = getCause(error)
  )
    stacks.push(error instanceof Error ? (error.stack ?? String(error)) : stringifyThrownValue(error));
  return { message: thrown.message || thrown.name, stack: stacks.join("\nCaused by: ") };
}

function getCause(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function stringifyThrownValue(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}

/** Returns the escape of a control character in JSON. */
function toJsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
