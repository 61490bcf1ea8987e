import {
  isObject,
  isSameJson,
  type JsonObject,
  type JsonValue,
  getText,
  type Part,
} from "../../protocol/index.ts";
import {
  type CallOrder,
  type Conversation,
  type ConversationTurn,
  isExpectedOrder,
  type ToolCall,
} from "../../studio/testing/index.ts";
import { computeRouge1 } from "./rouge-1.ts";
import { runConversation, type TestResult } from "./run-conversation-test.ts";

/** A case of an eval set of ADK (`*.evalset.json`). */
interface AdkEvalCase {
  readonly id: string;
  readonly invocations: readonly AdkInvocation[];
  /** Values of the session state. An ADK agent accepts the keys in its option `receiveState`. */
  readonly state: JsonObject;
}

interface AdkInvocation {
  readonly send: readonly Part[];
  readonly reference: string;
  readonly toolCalls: readonly ToolCall[];
}

/** The metrics of ADK that need no model, with their lowest accepted averages over the invocations of a case. */
interface EvalCriteria {
  readonly trajectory?: {
    readonly threshold: number;
    readonly order: CallOrder;
    readonly ignoresArguments: boolean;
  };
  readonly response?: { readonly threshold: number };
}

/** The criteria of `adk eval` without a file `test_config.json`. */
const DEFAULT_CRITERIA: EvalCriteria = {
  trajectory: { threshold: 1, order: "exact", ignoresArguments: false },
  response: { threshold: 0.8 },
};
const METRICS = [
  ["trajectory", "tool_trajectory_avg_score"],
  ["response", "response_match_score"],
] as const;
const ORDERS: readonly CallOrder[] = ["exact", "in-order", "any-order"];

/**
 * Decodes the cases of an eval set, also in the older form, which is a list of cases. Members are in snake case or in
 * camel case.
 */
export function decodeAdkEvalSet(value: unknown): AdkEvalCase[] {
  if (Array.isArray(value)) return value.map(decodeOlderCase);
  const cases = getMember(value, "eval_cases");
  if (!Array.isArray(cases)) throw new Error("The eval set has no list eval_cases.");
  return cases.map(decodeCase);
}

function decodeCase(value: unknown, at: number): AdkEvalCase {
  const id = readText(value, "eval_id", `case ${at + 1}`);
  const conversation = getMember(value, "conversation");
  if (!Array.isArray(conversation) || conversation.length === 0)
    throw new Error(
      `The eval case ${id} has no conversation. A conversation_scenario needs a model that plays the user; use simulate(…) of colloquy/testing.`,
    );
  return {
    id,
    invocations: conversation.map((invocation: unknown, index) => ({
      send: readContentParts(getMember(invocation, "user_content"), `${id}, invocation ${index + 1}`),
      reference: readContentText(getMember(invocation, "final_response")),
      toolCalls: readExpectedCalls(getMember(invocation, "intermediate_data")),
    })),
    state: readState(getMember(value, "session_input")),
  };
}

function decodeOlderCase(value: unknown, at: number): AdkEvalCase {
  const id = readText(value, "name", `case ${at + 1}`);
  const data = getMember(value, "data");
  if (!Array.isArray(data) || data.length === 0) throw new Error(`The eval case ${id} has no list data.`);
  return {
    id,
    invocations: data.map((invocation: unknown) => ({
      send: [{ text: readText(invocation, "query") }],
      reference: readText(invocation, "reference", ""),
      toolCalls: readList(getMember(invocation, "expected_tool_use")).map((call) => ({
        tool: readText(call, "tool_name"),
        arguments: (getMember(call, "tool_input") ?? {}) as JsonValue,
      })),
    })),
    state: readState(getMember(value, "initial_session")),
  };
}

/** Decodes the file `test_config.json` of an eval set. Without a value, the defaults of `adk eval` apply. */
export function decodeEvalCriteria(config: unknown): EvalCriteria {
  if (config === undefined) return DEFAULT_CRITERIA;
  const criteria = getMember(config, "criteria");
  if (!isObject(criteria)) throw new Error("The test configuration has no object criteria.");
  const { tool_trajectory_avg_score: trajectory, response_match_score: response, ...others } = criteria;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new Error(
      `The criterion ${other} is not supported; use tool_trajectory_avg_score and response_match_score, or adk eval.`,
    );
  return {
    ...(trajectory === undefined
      ? {}
      : {
          trajectory: {
            threshold: readThreshold(trajectory, "tool_trajectory_avg_score"),
            order: readMatchType(getMember(trajectory, "match_type")),
            ignoresArguments: getMember(trajectory, "ignore_args") === true,
          },
        }),
    ...(response === undefined
      ? {}
      : { response: { threshold: readThreshold(response, "response_match_score") } }),
  };
}

function readThreshold(criterion: unknown, name: string): number {
  const threshold = isObject(criterion) ? getMember(criterion, "threshold") : criterion;
  if (typeof threshold === "number") return threshold;
  throw new Error(`The criterion ${name} has no threshold; write a number from 0 to 1.`);
}

/** Reads a match type, which ADK writes as a name or as a number. */
function readMatchType(value: unknown = "EXACT"): CallOrder {
  const order =
    typeof value === "number"
      ? ORDERS[value]
      : ORDERS.find(
          (name) => name === (typeof value === "string" ? value : "").toLowerCase().replaceAll("_", "-"),
        );
  if (order === undefined)
    throw new Error(`match_type is ${JSON.stringify(value)}; write EXACT, IN_ORDER, or ANY_ORDER.`);
  return order;
}

/**
 * Runs an eval case, and compares the averages over its invocations with the criteria, as `adk eval` of ADK for Python
 * does. Unlike a conversation test, the conversation continues after an unexpected turn.
 */
export function runAdkEvalCase(
  { id, invocations, state }: AdkEvalCase,
  criteria: EvalCriteria,
  open: () => Promise<Conversation>,
  signal: AbortSignal,
): Promise<TestResult> {
  return runConversation(id, open, async (chat, { failures, scores }) => {
    const turnScores: { readonly trajectory: number; readonly response: number }[] = [];
    for (const [at, { send, reference, toolCalls }] of invocations.entries()) {
      const turn = await chat.send([...send], {
        signal,
        ...(at === 0 && Object.keys(state).length > 0
          ? { metadata: { adk_actions: { stateDelta: state } } }
          : {}),
      });
      const { trajectory, response } = criteria;
      turnScores.push({
        trajectory: trajectory && isExpectedTrajectory(turn.toolCalls, toolCalls, trajectory) ? 1 : 0,
        response: response ? computeRouge1(reference, findFinalResponse(turn)) : 0,
      });
    }
    for (const [metric, name] of METRICS) {
      const threshold = criteria[metric]?.threshold;
      if (threshold === undefined) continue;
      const byTurn = turnScores.map((score) => score[metric]);
      const average = byTurn.reduce((sum, score) => sum + score, 0) / byTurn.length;
      scores[name] = average;
      if (average >= threshold) continue;
      const list = byTurn.map((score) => score.toFixed(3)).join(", ");
      failures.push(`${name} is ${average.toFixed(3)}, expected ${threshold} (by turn: ${list})`);
    }
  });
}

function isExpectedTrajectory(
  actual: readonly ToolCall[] | undefined,
  expected: readonly ToolCall[],
  { order, ignoresArguments }: NonNullable<EvalCriteria["trajectory"]>,
): boolean {
  if (actual === undefined)
    throw new Error(
      "the tool calls of this agent behind a URL are unknown. Pass the agent itself, or leave tool_trajectory_avg_score out.",
    );
  return isExpectedOrder(
    actual,
    expected,
    order,
    (a, b) => a.tool === b.tool && (ignoresArguments || isSameJson(a.arguments ?? {}, b.arguments ?? {})),
  );
}

/** Returns the text of the last event of an ADK agent, each of which is an artifact. Other agents have one answer. */
function findFinalResponse({ artifacts, text }: ConversationTurn): string {
  const last = artifacts.findLast(
    ({ metadata, parts }) => metadata?.["adk_invocation_id"] !== undefined && getText(parts) !== "",
  );
  return last ? getText(last.parts) : text;
}

function readContentParts(content: unknown, where: string): Part[] {
  const parts = readList(getMember(content, "parts")).flatMap((part): Part[] => {
    if (!isObject(part)) return [];
    if (typeof part["text"] === "string") return [{ text: part["text"] }];
    const blob = getMember(part, "inline_data");
    if (!isObject(blob))
      throw new Error(`The user content of ${where} has a part that is neither text nor inline_data.`);
    return [
      { raw: readText(blob, "data"), mediaType: readText(blob, "mime_type", "application/octet-stream") },
    ];
  });
  if (parts.length === 0) throw new Error(`The user content of ${where} has no parts.`);
  return parts;
}

function readContentText(content: unknown): string {
  return readList(getMember(content, "parts"))
    .flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}

/** Reads the calls of `IntermediateData` (`tool_uses`), or of the newer `InvocationEvents`. */
function readExpectedCalls(data: unknown): ToolCall[] {
  const events = readList(getMember(data, "invocation_events"));
  const parts = events.flatMap((event) => readList(getMember(getMember(event, "content"), "parts")));
  const calls = parts.map((part) => getMember(part, "function_call")).filter(isObject);
  return [...readList(getMember(data, "tool_uses")), ...calls].map((call) => ({
    tool: readText(call, "name"),
    arguments: (getMember(call, "args") ?? {}) as JsonValue,
  }));
}

function readState(session: unknown): JsonObject {
  const state = getMember(session, "state");
  return isObject(state) ? state : {};
}

/** Reads a text member. Without a text and a default, the value is no eval set. */
function readText(value: unknown, name: string, otherwise?: string): string {
  const text = getMember(value, name) ?? otherwise;
  if (typeof text === "string") return text;
  throw new Error(`${JSON.stringify(value)?.slice(0, 80)} has no text ${name}.`);
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a member by its name in snake case, or by the same name in camel case. */
function getMember(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  return value[name] ?? value[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
}
