import { didYouMean } from "../../base/usage-checks/index.ts";
import { isObject, type Part } from "../../protocol/index.ts";
import type { CallOrder, ExpectedCall } from "../../studio/testing/index.ts";

/** Tests of one agent. The members of a test file in YAML or JSON have these names. */
export interface TestFile {
  /** The file of the agent, relative to the test file. */
  readonly agent?: string;
  /** The URL of the agent. */
  readonly url?: string;
  readonly tests: readonly ConversationTest[];
}

/** A conversation with expectations about its turns. */
export interface ConversationTest {
  readonly name: string;
  readonly turns: readonly TestTurn[];
}

/** A message of the user, and what is expected of the agent's turn. */
export interface TestTurn {
  readonly send: string | readonly Part[];
  /** A fault after some events of the stream: the connection is cut, or the server is killed and restarted. */
  readonly fault?: { readonly cut?: number; readonly kill?: number };
  readonly expect?: TurnExpectation;
}

/** Expectations about one turn. Members that are absent are not checked. */
export interface TurnExpectation {
  /** The last state of the task, such as `completed` or `input-required`, or `none` without a task. */
  readonly state?: string;
  /** The text of the answer. */
  readonly text?: TextExpectation;
  /** The text of the question of an agent that waits for its user. */
  readonly question?: TextExpectation;
  /** The names of the artifacts, in order. An artifact without a name has its id. */
  readonly artifacts?: readonly string[];
  /** The tool calls, in the order that `order` states. Default of `order`: `exact`. */
  readonly calls?: readonly ExpectedCall[];
  readonly order?: CallOrder;
  /** The most tokens that all model calls of the turn may use together. */
  readonly maxTokens?: number;
}

/** A text that must be equal, or conditions that must all hold. */
export type TextExpectation =
  | string
  | {
      /** A part of the text, or several. */
      readonly contains?: string | readonly string[];
      /** A JavaScript regular expression without slashes. */
      readonly matches?: string;
      /** A text with a similar meaning, which is compared by its words (ROUGE-1). */
      readonly similarTo?: string;
      /** The lowest accepted similarity, from 0 to 1. Default: 0.8. */
      readonly minSimilarity?: number;
    };

/** Decodes the value of a YAML or JSON file. An error names the member and the accepted values. */
export function decodeTestFile(value: unknown): TestFile {
  const file = readObject(value, "the file", "agent url tests");
  return {
    ...readOptional(file, "agent", "agent", readString),
    ...readOptional(file, "url", "url", readString),
    tests: readList(file["tests"], "tests", decodeTest),
  };
}

function decodeTest(value: unknown, path: string): ConversationTest {
  const test = readObject(value, path, "name turns");
  return {
    name: readString(test["name"], `${path}.name`),
    turns: readList(test["turns"], `${path}.turns`, decodeTurn),
  };
}

function decodeTurn(value: unknown, path: string): TestTurn {
  const turn = readObject(value, path, "send fault expect");
  const { send } = turn;
  return {
    send: typeof send === "string" ? send : (readList(send, `${path}.send`, readPart) as Part[]),
    ...readOptional(turn, "fault", `${path}.fault`, decodeFault),
    ...readOptional(turn, "expect", `${path}.expect`, decodeExpectation),
  };
}

function decodeFault(value: unknown, path: string): NonNullable<TestTurn["fault"]> {
  const fault = readObject(value, path, "cut kill");
  const decoded = {
    ...readOptional(fault, "cut", `${path}.cut`, readNumber),
    ...readOptional(fault, "kill", `${path}.kill`, readNumber),
  };
  if (Object.keys(decoded).length === 1) return decoded;
  throw createFileError(path, value, "either cut or kill with a number of events");
}

function decodeExpectation(value: unknown, path: string): TurnExpectation {
  const found = readObject(value, path, "state text question artifacts calls order maxTokens");
  return {
    ...readOptional(found, "state", `${path}.state`, readString),
    ...readOptional(found, "text", `${path}.text`, decodeText),
    ...readOptional(found, "question", `${path}.question`, decodeText),
    ...readOptional(found, "artifacts", `${path}.artifacts`, (list, at) => readList(list, at, readString, 0)),
    ...readOptional(found, "calls", `${path}.calls`, (list, at) => readList(list, at, decodeCall, 0)),
    ...readOptional(found, "order", `${path}.order`, readOrder),
    ...readOptional(found, "maxTokens", `${path}.maxTokens`, readNumber),
  };
}

function decodeText(value: unknown, path: string): TextExpectation {
  if (typeof value === "string") return value;
  const text = readObject(value, path, "contains matches similarTo minSimilarity");
  return {
    ...readOptional(text, "contains", `${path}.contains`, (parts, at) =>
      typeof parts === "string" ? parts : readList(parts, at, readString),
    ),
    ...readOptional(text, "matches", `${path}.matches`, readPattern),
    ...readOptional(text, "similarTo", `${path}.similarTo`, readString),
    ...readOptional(text, "minSimilarity", `${path}.minSimilarity`, readNumber),
  };
}

function decodeCall(value: unknown, path: string): ExpectedCall {
  if (typeof value === "string") return value;
  const call = readObject(value, path, "tool arguments result server error");
  return { ...call, tool: readString(call["tool"], `${path}.tool`) };
}

function readOrder(value: unknown, path: string): CallOrder {
  if (value === "exact" || value === "in-order" || value === "any-order") return value;
  throw createFileError(path, value, "exact, in-order, or any-order");
}

function readPart(value: unknown, path: string): object {
  if (isObject(value) && ["text", "data", "raw", "url"].some((kind) => kind in value)) return value;
  throw createFileError(path, value, "a part with one of text, data, raw, and url");
}

function readPattern(value: unknown, path: string): string {
  const source = readString(value, path);
  try {
    void new RegExp(source, "u");
  } catch (error) {
    throw new Error(`${path} is no regular expression: ${String(error)}`, { cause: error });
  }
  return source;
}

function readString(value: unknown, path: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw createFileError(path, value, "a text");
}

function readNumber(value: unknown, path: string): number {
  if (typeof value === "number" && value >= 0) return value;
  throw createFileError(path, value, "a number from 0");
}

function readList<T>(
  value: unknown,
  path: string,
  read: (item: unknown, path: string) => T,
  minLength = 1,
): T[] {
  if (!Array.isArray(value) || value.length < minLength)
    throw createFileError(path, value, minLength === 0 ? "a list" : "a list with at least one entry");
  return value.map((item, at) => read(item, `${path}[${at}]`));
}

/** Reads an object whose members have the given names only. */
function readObject(value: unknown, path: string, names: string): Record<string, unknown> {
  if (!isObject(value)) throw createFileError(path, value, `an object with the members ${names}`);
  const known = names.split(" ");
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return value;
  const hint = didYouMean(unknown, known);
  throw new Error(
    `${path} has no member "${unknown}".${hint === "" ? ` Its members are ${known.join(", ")}.` : hint}`,
  );
}

function readOptional<N extends string, T>(
  object: Record<string, unknown>,
  name: N,
  path: string,
  read: (value: unknown, path: string) => T,
): { [K in N]?: T } {
  const value = object[name];
  return value === undefined || value === null ? {} : ({ [name]: read(value, path) } as { [K in N]: T });
}

function createFileError(path: string, value: unknown, expected: string): Error {
  const found = value === undefined ? "missing" : JSON.stringify(value)?.slice(0, 80);
  return new Error(`${path} is ${found}; write ${expected}.`);
}
