import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { text as allOf } from "node:stream/consumers";
import {
  decodeMessageCardArray,
  decodeRecordFiles,
  decodeRecording,
  createRecordingFromCards,
  type RecordFile,
  type Recording,
  type RecordedSample,
  type TokenTariff,
} from "../../cards/index.ts";
import { omitUndefined } from "../../base/usage-checks/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { createUsageError } from "../cli-error.ts";
import { Option, InvalidArgumentError, type Command } from "commander";
import { createOutputOption } from "../client-options.ts";
import type { OutputFormat } from "../output-writer.ts";

/** An experiment run, loaded from one or several files. */
interface RunNameAndRecording {
  /** Title of the run: the run id, or the file name if the run has no id. */
  readonly name: string;
  readonly recording: Recording;
}

/**
 * Loads one experiment run from the files. If several processes recorded the same run in separate files, the
 * function merges the files. The function converts a list of message cards to a recording. `runId` selects
 * one run from a file with several runs.
 */
export async function readRun(
  files: readonly string[],
  runId: string | undefined,
  stdin: NodeJS.ReadableStream,
): Promise<RunNameAndRecording> {
  const runs = await readRuns(files, runId, stdin);
  const [first, second] = runs;
  if (!first) throw createUsageError("Pass a recording (.cards.jsonl) or a list of message cards.");
  if (second)
    throw createUsageError(
      `These files belong to several runs: ${runs.map(({ name }) => name).join(", ")}.`,
      "Pass the files of one run, or use colloquy cards compare.",
    );
  return first;
}

/** Loads all experiment runs from the files, in the order of the files. */
export async function readRuns(
  files: readonly string[],
  runId: string | undefined,
  stdin: NodeJS.ReadableStream,
): Promise<RunNameAndRecording[]> {
  // Ignores duplicates, because a file named twice is still one part of the run.
  const distinct = [...new Map(files.map((file) => [resolve(file), file])).values()];
  const texts = await Promise.all(
    distinct.map(async (file) => ({
      file: file === "-" ? "stdin" : file,
      text: await readFileOrStdin(file, stdin),
    })),
  );
  const found: (RecordFile & RunNameAndRecording)[] = texts.map(({ file, text: source }) => {
    const recording = decodeRunText(source, file, runId);
    const name = (isMessageCardListText(source) ? undefined : recording.runId) ?? basename(file);
    return { file, source, name, recording };
  });
  return [...Map.groupBy(found, ({ name }) => name)].map(([name, files]) => {
    const [only] = files;
    return {
      name,
      recording:
        only && files.length === 1 ? only.recording : decodeRecordFiles(files, omitUndefined({ runId })),
    };
  });
}

/** Decodes a record, or a list of message cards. */
function decodeRunText(text: string, file: string, runId: string | undefined): Recording {
  return isMessageCardListText(text)
    ? createRecordingFromCards(decodeMessageCardArray(text, file))
    : decodeRecording(text, file, omitUndefined({ runId }));
}

/** Returns whether the text is a list of message cards in the format of the card specification. */
function isMessageCardListText(text: string): boolean {
  return /^\uFEFF?\s*\[/.test(text);
}

/**
 * Reads a file, or reads stdin until its end if the file name is `-`. Rejects with `INVALID_PARAMS` and the
 * file name if the file cannot be read.
 */
export async function readFileOrStdin(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (file === "-") return allOf(stdin);
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why =
      code === "ENOENT" ? "the file does not exist" : code === "EISDIR" ? "it is a directory" : String(cause);
    throw new A2AError(
      "INVALID_PARAMS",
      `${file}: ${why}. Pass a recording (.cards.jsonl) or a list of message cards.`,
      {
        cause,
      },
    );
  }
}

export function createSampleOption(): Option {
  return new Option("--sample <id>", "one problem of the run, for example gsm8k_0");
}

/** Returns the problem with the given id. Without an id, returns all problems that have message cards. */
export function selectRecordedSamples(recording: Recording, id: string | undefined): RecordedSample[] {
  const samples = recording.samples.filter(({ cards }) => cards.length > 0);
  const found = id === undefined ? samples : samples.filter((sample) => sample.id === id);
  if (found.length > 0) return found;
  throw createUsageError(
    id === undefined ? "The run has no message cards." : `The run has no message cards for problem ${id}.`,
    samples.length > 0 ? `Available problems: ${formatSampleIds(samples)}.` : undefined,
  );
}

/**
 * Returns the only problem of a run, or throws if the run has several problems. A diagram can show only one
 * problem.
 */
export function requireSingleSample(samples: readonly RecordedSample[]): RecordedSample {
  const [only] = samples;
  if (only && samples.length === 1) return only;
  throw createUsageError(
    `This output shows a single problem, but the run has ${samples.length}.`,
    `Select one with --sample: ${formatSampleIds(samples)}.`,
  );
}

/** Returns a copy of a recording with only the given problems. */
export function filterRecording(recording: Recording, samples: readonly RecordedSample[]): Recording {
  const { runId, run, ends, abandoned, torn } = recording;
  const selected = new Set(samples.flatMap(({ cards }) => cards));
  return {
    runId,
    run,
    samples,
    cards: recording.cards.filter((card) => selected.has(card)),
    calls: samples.flatMap(({ calls }) => calls),
    scores: samples.flatMap(({ score }) => score ?? []),
    skips: samples.flatMap(({ skip }) => skip ?? []),
    finishedSampleIds: recording.finishedSampleIds,
    ends,
    abandoned,
    torn,
  };
}

function formatSampleIds(samples: readonly RecordedSample[]): string {
  const names = samples.slice(0, 5).map(({ id }) => id ?? "cards without one");
  return samples.length > 5 ? `${names.join(", ")} and ${samples.length - 5} more` : names.join(", ");
}

/** Options that several commands have. */
export interface CardsCommandOptions {
  readonly output: OutputFormat;
  readonly run?: string;
  readonly sample?: string;
  readonly tariff?: TokenTariff;
}

/** Adds the arguments for the recording files and the option that selects an experiment run. */
export function addRunFilesArgument(command: Command): Command {
  return command
    .argument(
      "<files...>",
      "recordings (.cards.jsonl), merged if they are of one run; or lists of message cards (.json); - for stdin",
    )
    .addOption(new Option("--run <id>", "id of the run, if a file has several"));
}

export function addOutputFormatOptions(command: Command): Command {
  return command
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addOption(new Option("--json", "the same as -o json").implies({ output: "json" }));
}

/** Adds the options of a command that reads and reports an experiment run. */
export function addCardsCommandOptions(command: Command): Command {
  return addOutputFormatOptions(addRunFilesArgument(command));
}

export function createTariffOption(): Option {
  return new Option(
    "--tariff <prices>",
    "prices per million tokens, for example input=3,cached=0.3,output=15",
  ).argParser(parseTariff);
}

function parseTariff(text: string): TokenTariff {
  const prices = parseNumbersByName(text, ["input", "cached", "output"], "input=3,cached=0.3,output=15");
  const { input, output } = prices;
  if (input === undefined || output === undefined)
    throw new InvalidArgumentError("Set a price for input and one for output.");
  return { ...prices, input, output };
}

/** Parses a list of words, separated by commas. */
export function parseList(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  if (words.includes("")) throw new InvalidArgumentError("Separate the names with commas.");
  return words;
}

/** Parses a list of names with numbers. `form` is an example of such a list. */
export function parseNumbersByName<Name extends string>(
  text: string,
  names: readonly Name[],
  form: string,
): Partial<Record<Name, number>> {
  const pairs = text.split(",").map((pair) => pair.split("=").map((word) => word.trim()));
  for (const [name, value = ""] of pairs)
    if (!names.some((known) => known === name) || !/^\d{1,15}(?:\.\d+)?$/.test(value))
      throw new InvalidArgumentError(`Use the form ${form}.`);
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)])) as Partial<
    Record<Name, number>
  >;
}
