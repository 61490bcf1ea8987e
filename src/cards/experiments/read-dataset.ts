import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, parse } from "node:path";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeQuestions,
  decodeGsm8kSocraticFile,
  getGsm8kSlice,
  type HotpotQaSample,
  type QuestionFields,
  mergeSocraticSteps,
  type DatasetSample,
} from "../index.ts";
import { A2AError } from "../../protocol/index.ts";

/**
 * Reads the GSM8K or HotpotQA dataset. `path` is a dataset file, a folder with dataset files, or the parent
 * of a folder named `gsm8k` or `hotpotqa`. If `path` is absent, the GSM8K dataset contains the 20 problems
 * that the package includes. The package includes no HotpotQA problems. Throws `INVALID_PARAMS` if a dataset
 * file is missing or invalid.
 */
export function readDataset(name: "gsm8k" | "hotpotqa", path?: string): Dataset {
  if (name !== "gsm8k" && name !== "hotpotqa")
    throw createMissingDataError(
      `${JSON.stringify(name)} is not a known dataset`,
      "use gsm8k or hotpotqa, or read your own file with readQuestions",
    );
  if (path === undefined) {
    if (name === "gsm8k") return { name, split: "test, the shipped 20", samples: getGsm8kSlice() };
    throw createMissingDataError("HotpotQA is not shipped", "pass its file or folder (--data)");
  }
  return name === "gsm8k" ? readGsm8k(path) : readHotpotQa(path);
}

/**
 * Reads questions from a CSV or JSON file (see `decodeQuestions`). The name of the dataset is the name of the file. Throws
 * `INVALID_PARAMS` if the file is missing or invalid.
 */
export function readQuestions(path: string, fields: QuestionFields = {}): Dataset {
  const text = readTextFile(path);
  return {
    name: parse(path).name,
    split: basename(path),
    samples: decodeQuestions(text, path, fields),
    sha256: hashTexts(text),
  };
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
  const samples = mergeSocraticSteps(problems, decodeGsm8kSocraticFile(socratic, stepsFile));
  return { name: "gsm8k", split: "test", samples, sha256: hashTexts(text, socratic) };
}

function readHotpotQa(path: string): Dataset {
  const resolvedPath = resolveDatasetPath("hotpotqa", path);
  const files = isFolder(resolvedPath)
    ? readdirSync(resolvedPath)
        .filter((name) => name.includes("distractor") && /\.jsonl?$/.test(name))
        .toSorted()
        .map((name) => join(resolvedPath, name))
    : [resolvedPath];
  if (files.length === 0)
    throw createMissingDataError(
      `${resolvedPath} contains no file of HotpotQA's distractor setting`,
      "add a file with a name like *distractor*.json",
    );
  const texts = files.map(readTextFile);
  // Files may overlap, so each problem is kept once.
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

/**
 * Returns the subfolder of `path` that has the name of the dataset, or `path` itself if no such subfolder
 * exists.
 */
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
    const reason = code === "ENOENT" ? "the file does not exist" : message;
    throw createMissingDataError(
      `${file}: ${reason}`,
      "see docs/card-experiments.md for the addresses of the datasets",
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

/** A dataset, which is a named list of problems. */
export interface Dataset {
  /** Name of the dataset, such as `gsm8k`, `hotpotqa`, or the name of a file. */
  readonly name: string;
  /** Readable name of the dataset split, such as `test` or `test, the shipped 20`. */
  readonly split: string;
  readonly samples: readonly DatasetSample[];
  /**
   * SHA-256 hash of the dataset files in hexadecimal. The problems that the package includes have no hash.
   */
  readonly sha256?: string;
}

/** Options that select problems from a dataset. */
interface SampleSelection {
  /** Maximum number of selected problems. Default: all problems. */
  readonly count?: number;
  /** Number of problems to skip before the first selected problem. Default: 0. */
  readonly offset?: number;
  /** IDs of the problems to select. */
  readonly ids?: readonly string[];
}

/**
 * Selects problems from a dataset and keeps their order. Throws a `RangeError` if the selection is empty or
 * contains an unknown problem ID.
 */
export function selectDatasetSamples(dataset: Dataset, { count, offset = 0, ids }: SampleSelection): Dataset {
  const wantedIds = ids && new Set(ids);
  const candidates = wantedIds ? dataset.samples.filter(({ id }) => wantedIds.has(id)) : dataset.samples;
  if (wantedIds && candidates.length < wantedIds.size) {
    const found = new Set(candidates.map(({ id }) => id));
    const missing = [...wantedIds].filter((id) => !found.has(id));
    throw new RangeError(
      `${dataset.name} (${dataset.split}) has no problem ${missing.join(", ")}. Its ids range from ${dataset.samples[0]?.id} to ${dataset.samples.at(-1)?.id}.`,
    );
  }
  const samples = candidates.slice(offset, count === undefined ? undefined : offset + count);
  if (samples.length === 0)
    throw new RangeError(
      `The offset ${offset} leaves none of ${candidates.length} problems. Use a smaller offset.`,
    );
  return { ...dataset, samples };
}
