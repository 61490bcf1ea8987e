import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  type DecodedTrafficLine,
  type EventLine,
  isTruncatedBody,
  type ToolLine,
} from "../../observe/trace/index.ts";
import { readTrafficFile } from "../../observe/trace/recording/index.ts";
import {
  A2AError,
  getText,
  isInterrupted,
  isObject,
  isTerminal,
  type Message,
  type StreamResponse,
} from "../../protocol/index.ts";
import { createTestTurn } from "../../studio/console-api/index.ts";
import { collectRecordedAgents, readRecordedEvents, type RecordedAgent } from "../../studio/tap/index.ts";
import { type Conversation, TurnCollector } from "../../studio/testing/index.ts";
import { createUsageError } from "../cli-error.ts";
import { parseYaml } from "../parse-yaml.ts";
import { decodeAdkEvalSet, decodeEvalCriteria, runAdkEvalCase } from "./adk-eval-set.ts";
import { runConversationTest, type TestResult } from "./run-conversation-test.ts";
import { type ConversationTest, decodeTestFile, type TestTurn } from "./test-file.ts";

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

/** A recorded turn: the message of the user, and what the agent did. */
interface RecordedTurn {
  readonly message: Message;
  readonly collector: TurnCollector;
  readonly toolLines: ToolLine[];
}

/**
 * Returns the recorded conversations with an agent as tests, oldest first. The expectations are what the agent did:
 * state, text, question, and tool calls. The record of a server contains the log of each task. Other records contain
 * the requests. Tasks and requests that the writer of the record has shortened are left out. Throws an error with the
 * names of the agents if `name` does not select one.
 */
function listRecordedTests(
  lines: readonly DecodedTrafficLine[],
  name: string | undefined,
): ConversationTest[] {
  const logLines = lines.flatMap((decoded) =>
    decoded.type === "traffic" && (decoded.line.kind === "event" || decoded.line.kind === "tool")
      ? [decoded.line]
      : [],
  );
  const loggedAgents = [...new Set(logLines.flatMap(({ agent = [] }) => agent))];
  if (loggedAgents.length > 0) {
    const agent = selectAgent(loggedAgents, name);
    const shortened = new Set(logLines.filter(isShortened).map(({ task_id: taskId }) => taskId));
    const complete = logLines.filter((line) => line.agent === agent && !shortened.has(line.task_id));
    return toTests(listLoggedTurns(complete));
  }
  const agents = collectRecordedAgents(lines);
  const selected = selectAgent(
    agents.map((agent) => agent.name),
    name,
  );
  return toTests(agents.filter((agent) => agent.name === selected).flatMap(listRequestedTurns));
}

function selectAgent(names: readonly string[], name: string | undefined): string {
  const [only] = names;
  const selected = name === undefined && names.length === 1 ? only : names.find((other) => other === name);
  if (selected !== undefined) return selected;
  throw new Error(
    only === undefined
      ? "the record contains no requests to agents."
      : `select an agent of the record with --recorded-agent: ${names.join(", ")}.`,
  );
}

function isShortened(line: EventLine | ToolLine): boolean {
  return line.kind === "event" && isTruncatedBody(line.event);
}

/** Splits the logs of the tasks at the messages of users. */
function listLoggedTurns(lines: readonly (EventLine | ToolLine)[]): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  const current = new Map<string | undefined, RecordedTurn>();
  // The first calls of a turn can end before the commit of its message.
  const earlyCalls = new Map<string | undefined, ToolLine[]>();
  const seen = new Set<string>();
  for (const line of lines) {
    const turn = current.get(line.task_id);
    if (line.kind === "tool") {
      if (turn && !hasEnded(turn)) turn.toolLines.push(line);
      else earlyCalls.set(line.task_id, [...(earlyCalls.get(line.task_id) ?? []), line]);
      continue;
    }
    const event = line.event as unknown as StreamResponse | undefined;
    // A node that continues a task can report an event again.
    const key = `${line.task_id} ${line.log_seq}`;
    if (event === undefined || seen.has(key)) continue;
    seen.add(key);
    const message = findUserMessage(event);
    if (!message) {
      turn?.collector.addEvent(event);
      continue;
    }
    const collector = new TurnCollector(getText(message.parts), turn?.collector.finish(false).task);
    if ("task" in event) collector.addEvent(event);
    const started = { message, collector, toolLines: earlyCalls.get(line.task_id) ?? [] };
    earlyCalls.delete(line.task_id);
    current.set(line.task_id, started);
    turns.push(started);
  }
  return turns;
}

function hasEnded({ collector }: RecordedTurn): boolean {
  const state = collector.finish(false).task?.status.state;
  return state !== undefined && (isTerminal(state) || isInterrupted(state));
}

function findUserMessage(event: StreamResponse): Message | undefined {
  if ("message" in event) return event.message.role === "ROLE_USER" ? event.message : undefined;
  return "task" in event ? event.task.history?.findLast(({ role }) => role === "ROLE_USER") : undefined;
}

/** Returns the turns of the recorded requests. A request that failed is no turn. */
function listRequestedTurns({ exchanges }: RecordedAgent): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  const current = new Map<string, TurnCollector>();
  for (const exchange of exchanges) {
    if (exchange.operation !== "SendMessage" && exchange.operation !== "SendStreamingMessage") continue;
    if ([exchange.response?.body, ...exchange.frames.map(({ event }) => event)].some(isTruncatedBody))
      continue;
    const message = exchange.params["message"] as unknown as Message;
    const previous = message.taskId === undefined ? undefined : current.get(message.taskId);
    const collector = new TurnCollector(getText(message.parts), previous?.finish(false).task);
    try {
      for (const event of readRecordedEvents(exchange)) collector.addEvent(event);
    } catch (error) {
      if (error instanceof A2AError) continue;
      throw error;
    }
    const { task } = collector.finish(false);
    if (task) current.set(task.id, collector);
    turns.push({ message, collector, toolLines: [] });
  }
  return turns;
}

/** Groups the turns by context. A turn without an end, such as one that another message interrupted, is left out. */
function toTests(turns: readonly RecordedTurn[]): ConversationTest[] {
  const conversations = new Map<string, TestTurn[]>();
  for (const { message, collector, toolLines } of turns) {
    for (const { tool, arguments: input, result, error, duration_ms: durationMs } of toolLines)
      collector.addCall({ kind: "tool", tool, arguments: input, result, error, durationMs });
    const turn = collector.finish(toolLines.length > 0);
    const state = turn.task?.status.state;
    if (state !== undefined && !isTerminal(state) && !isInterrupted(state)) continue;
    const contextId = turn.task?.contextId ?? message.contextId ?? message.messageId;
    const known = conversations.get(contextId);
    const testTurn = createTestTurn(message.parts, { ...turn, calls: turn.toolCalls });
    if (known) known.push(testTurn);
    else conversations.set(contextId, [testTurn]);
  }
  return [...conversations.values()].map((found, at) => ({ name: `conversation ${at + 1}`, turns: found }));
}
