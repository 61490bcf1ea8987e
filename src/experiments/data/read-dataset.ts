import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kModelAnswers,
  decodeGsm8kSocratic,
  getGsm8kSlice,
  type HotpotQaSample,
  mergeSocraticSteps,
  type Gsm8kModelAnswers,
} from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { Dataset } from "./dataset.ts";

/**
 * The problems of a dataset. `path` is its folder, a folder that has it as `gsm8k` or `hotpotqa`, or a file. Without it
 * GSM8K is the shipped 20; HotpotQA is not shipped. Throws INVALID_PARAMS for what is not there or cannot be read.
 */
export function readDataset(name: Dataset["name"], path?: string): Dataset {
  if (path === undefined) {
    if (name === "gsm8k") return { name, split: "test, the shipped 20", samples: getGsm8kSlice() };
    throw createMissingDataError("HotpotQA is not shipped", "name its file or folder (--data)");
  }
  return name === "gsm8k" ? readGsm8k(path) : readHotpotQa(path);
}

/** What OpenAI's four models of 2021 answered to GSM8K, from `example_model_solutions.jsonl` in that folder. */
export function readRecordedAnswers(path: string | undefined): Gsm8kModelAnswers[] {
  if (path === undefined)
    throw createMissingDataError("The recorded answers are not shipped", "name their folder (--data)");
  const file = join(resolveDatasetPath("gsm8k", path), RECORDED_ANSWERS_FILE);
  return decodeGsm8kModelAnswers(readTextFile(file), file);
}

function readGsm8k(path: string): Dataset {
  const resolvedPath = resolveDatasetPath("gsm8k", path);
  const file = isFolder(resolvedPath) ? join(resolvedPath, "test.jsonl") : resolvedPath;
  const text = readTextFile(file);
  const problems = decodeGsm8k(text, file);
  const stepsFile = isFolder(resolvedPath) ? join(resolvedPath, "test_socratic.jsonl") : "";
  if (!existsSync(stepsFile))
    return { name: "gsm8k", split: "test", samples: problems, sha256: hashTexts(text) };
  const socratic = readTextFile(stepsFile);
  const samples = mergeSocraticSteps(problems, decodeGsm8kSocratic(socratic, stepsFile));
  return { name: "gsm8k", split: "test", samples, sha256: hashTexts(text, socratic) };
}

function readHotpotQa(path: string): Dataset {
  const resolvedPath = resolveDatasetPath("hotpotqa", path);
  const files = isFolder(resolvedPath)
    ? readdirSync(resolvedPath)
        .filter((name) => /distractor.*\.jsonl?$/.test(name))
        .toSorted()
        .map((name) => join(resolvedPath, name))
    : [resolvedPath];
  if (files.length === 0)
    throw createMissingDataError(
      `${resolvedPath} has no file of HotpotQA's distractor setting`,
      "put one there, *distractor*.json",
    );
  const texts = files.map(readTextFile);
  // Files may overlap; a problem is there once.
  const samples = new Map<string, HotpotQaSample>();
  for (const [index, text] of texts.entries())
    for (const sample of decodeHotpotQa(text, files[index] ?? "")) {
      if (!samples.has(sample.id)) samples.set(sample.id, sample);
    }
  return {
    name: "hotpotqa",
    split: "dev, distractor",
    samples: [...samples.values()],
    sha256: hashTexts(...texts),
  };
}

/** The folder or file that is meant; a folder of datasets has one for each. */
function resolveDatasetPath(name: string, path: string): string {
  const subfolder = join(path, name);
  return isFolder(subfolder) ? subfolder : path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readTextFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : message;
    throw createMissingDataError(
      `${file}: ${reason}`,
      "`colloquy cards fetch` says where to get the data",
      cause,
    );
  }
}

function hashTexts(...texts: string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text);
  return hash.digest("hex");
}

function createMissingDataError(problem: string, action: string, cause?: unknown): A2AError {
  return new A2AError("INVALID_PARAMS", `${problem}. To do: ${action}.`, { cause });
}

const RECORDED_ANSWERS_FILE = "example_model_solutions.jsonl";
