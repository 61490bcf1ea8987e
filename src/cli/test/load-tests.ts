import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isObject } from "../../protocol/index.ts";
import { readTrafficFile } from "../../observe/trace/recording/index.ts";
import type { Conversation } from "../../studio/testing/index.ts";
import { createUsageError } from "../cli-error.ts";
import { parseYaml } from "../parse-yaml.ts";
import { decodeAdkEvalSet, decodeEvalCriteria, runAdkEvalCase } from "./adk-eval-set.ts";
import { listRecordedTests } from "./recorded-tests.ts";
import { runConversationTest, type TestResult } from "./run-conversation-test.ts";
import { type ConversationTest, decodeTestFile } from "./test-file.ts";

/** A test that runs in conversations with any agent. */
export interface LoadedTest {
  readonly name: string;
  readonly run: (open: () => Promise<Conversation>, signal: AbortSignal) => Promise<TestResult>;
}

/** The tests of one file. */
export interface LoadedTestFile {
  /** The agent that the file names: a file relative to the test file. */
  readonly agent?: string | undefined;
  readonly url?: string | undefined;
  readonly tests: readonly LoadedTest[];
  /** Keys of ADK's session state that the tests set. */
  readonly stateKeys: readonly string[];
  /** The conversations of a record, which can be written as a test file. */
  readonly recorded?: readonly ConversationTest[];
}

/** Loads a test file (YAML or JSON), an eval set of ADK, or a traffic record (`.jsonl`). */
export async function loadTestFile(
  file: string,
  { recordedAgent }: { readonly recordedAgent?: string | undefined },
): Promise<LoadedTestFile> {
  try {
    if (/\.jsonl(?:\.gz)?$/.test(file)) return await loadRecord(file, recordedAgent);
    const value = parseYaml(await readFile(file, "utf8"));
    return Array.isArray(value) || (isObject(value) && ("eval_cases" in value || "evalCases" in value))
      ? await loadAdkEvalSet(file, value)
      : loadConversationTests(file, value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw createUsageError(`The tests of ${file} cannot be read: ${reason}`, undefined, error);
  }
}

function loadConversationTests(file: string, value: unknown): LoadedTestFile {
  const { agent, url, tests } = decodeTestFile(value);
  return {
    agent: agent === undefined ? undefined : resolve(dirname(file), agent),
    url,
    tests: tests.map(toLoadedTest),
    stateKeys: [],
  };
}

function toLoadedTest(test: ConversationTest): LoadedTest {
  return { name: test.name, run: (open, signal) => runConversationTest(test, open, signal) };
}

async function loadAdkEvalSet(file: string, value: unknown): Promise<LoadedTestFile> {
  const cases = decodeAdkEvalSet(value);
  const criteria = decodeEvalCriteria(await readJsonIfExists(join(dirname(file), "test_config.json")));
  return {
    tests: cases.map((test) => ({
      name: test.id,
      run: (open, signal) => runAdkEvalCase(test, criteria, open, signal),
    })),
    stateKeys: [...new Set(cases.flatMap(({ state }) => Object.keys(state)))],
  };
}

async function readJsonIfExists(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${basename(file)}: ${String(error)}`, { cause: error });
  }
}

async function loadRecord(file: string, name: string | undefined): Promise<LoadedTestFile> {
  const lines = [];
  for await (const line of readTrafficFile(file)) lines.push(line);
  const recorded = listRecordedTests(lines, name);
  if (recorded.length === 0) throw new Error("the record contains no message that the agent answered.");
  return { tests: recorded.map(toLoadedTest), stateKeys: [], recorded };
}
