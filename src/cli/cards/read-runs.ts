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
} from "../../cards/index.ts";
import { omitUndefined } from "../../base/usage-checks/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { createUsageError } from "../cli-error.ts";

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
export function decodeRunText(text: string, file: string, runId: string | undefined): Recording {
  return isMessageCardListText(text)
    ? createRecordingFromCards(decodeMessageCardArray(text, file))
    : decodeRecording(text, file, omitUndefined({ runId }));
}

/** Returns whether the text is a list of message cards in the format of the card specification. */
export function isMessageCardListText(text: string): boolean {
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
