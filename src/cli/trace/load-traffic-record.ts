import type { Command } from "commander";
import {
  loadTrafficModel,
  priceTrafficLine,
  type LoadedTraffic,
  type TrafficModel,
  type TrafficTask,
} from "../../observe/trace/index.ts";
import { readTrafficFile, type ReadTrafficLine } from "../../observe/trace/recording/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createOutputOption } from "../client-options.ts";
import { CliError, createUsageError } from "../cli-error.ts";
import type { OutputFormat } from "../output-writer.ts";
import { readModelPrices } from "./read-model-prices.ts";

/** Maximum length of a record in characters. A million lines of 480 characters take 1.2 GB of memory. */
const MAX_RECORD_LENGTH = 1_000_000_000;

/** Maximum number of unreadable lines with a warning of their own. */
const MAX_LINE_WARNINGS = 10;

/** A record with its decoded lines. */
export interface LoadedTrafficRecord extends LoadedTraffic {
  readonly lines: readonly ReadTrafficLine[];
}

export interface TraceOutputOptions {
  output: OutputFormat;
}

/** Adds the options `--output` and `--json`. */
export function addTraceOutputOptions(command: Command): Command {
  return command
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addOption(command.createOption("--json", "the same as -o json").implies({ output: "json" }));
}

/** Adds the argument for the files of a record. */
export function addTraceFilesArgument(command: Command): Command {
  return command.argument(
    "<files...>",
    "traffic records (JSON Lines, also .gz) of servers, clients, and taps, which are merged",
  );
}

/**
 * Loads the files of a record, with the rotated files `FILE.1`, `FILE.2`. Warns about unreadable lines. With a
 * price file, the model calls have prices.
 */
export async function loadTrafficRecord(
  files: readonly string[],
  { streams }: Pick<CliContext, "streams">,
  priceFile?: string,
  maxLength: number = MAX_RECORD_LENGTH,
): Promise<LoadedTrafficRecord> {
  const prices = readModelPrices(priceFile);
  const lines: ReadTrafficLine[] = [];
  let length = 0;
  for (const file of files) {
    try {
      for await (const line of readTrafficFile(file)) {
        lines.push(
          prices && line.type === "traffic" ? { ...line, line: priceTrafficLine(line.line, prices) } : line,
        );
        length += line.length;
        if (length > maxLength)
          throw createUsageError(
            `The record is too long: ${line.file}:${line.lineNumber} exceeds ${maxLength} characters in all files.`,
            "Pass fewer files. With rotated files, copy one of them to another folder.",
          );
      }
    } catch (cause) {
      if (cause instanceof CliError) throw cause;
      throw createUnreadableFileError(file, cause);
    }
  }
  if (!lines.some(({ type }) => type === "traffic")) throw createNoTrafficError(files);
  const loaded = loadTrafficModel(lines);
  warnAboutUnreadableLines(lines, (text) => streams.err(`warning: ${text}\n`));
  return { ...loaded, lines };
}

export function createUnreadableFileError(file: string, cause: unknown): CliError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return createUsageError(`${file} cannot be read (${why}).`, "Pass the path of a traffic record.", cause);
}

export function createNoTrafficError(files: readonly string[]): CliError {
  return createUsageError(
    `${files.join(", ")} contains no traffic lines.`,
    "Record a server with colloquy serve --record FILE, or a client with colloquy send --record FILE.",
  );
}

function warnAboutUnreadableLines(lines: readonly ReadTrafficLine[], warn: (text: string) => void): void {
  const unreadable = lines.flatMap((line) => (line.type === "unreadable" ? [line] : []));
  for (const { file, lineNumber, reason, remedy } of unreadable.slice(0, MAX_LINE_WARNINGS))
    warn(`${file}:${lineNumber} is skipped: ${reason}.${remedy === undefined ? "" : ` ${remedy}`}`);
  const more = unreadable.length - MAX_LINE_WARNINGS;
  if (more > 0) warn(`${more} more lines are skipped`);
}

/**
 * Finds a task by its id, or by the beginning of its id. Without an id, the record must contain one root task. `option`
 * is the option of the command that selects the task.
 */
export function requireTask(model: TrafficModel, id: string | undefined, option = "--task"): TrafficTask {
  const tasks = [...model.tasks.values()];
  const candidates =
    id === undefined
      ? tasks.filter(({ key }) => model.findParentTaskKey(key) === undefined)
      : [model.findTask(id) ?? tasks.filter((task) => task.id.startsWith(id))].flat();
  const [task] = candidates;
  if (task && candidates.length === 1) return task;
  const known = tasks.slice(0, 10).map((one) => one.id);
  const problem =
    id === undefined
      ? `The record contains ${candidates.length} tasks without a parent.`
      : candidates.length === 0
        ? `The record contains no task ${id}.`
        : `${candidates.length} tasks begin with ${id}.`;
  throw createUsageError(problem, `Pass ${option} with the id of one task: ${known.join(", ")}`);
}
