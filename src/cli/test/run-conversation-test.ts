import { assertCalls, type Conversation, type ConversationTurn } from "../../studio/testing/index.ts";
import { computeRouge1 } from "./rouge-1.ts";
import type { ConversationTest, TextExpectation, TurnExpectation } from "./test-file.ts";

/** The result of one trial of a test. */
export interface TestResult {
  readonly name: string;
  /** Milliseconds. */
  readonly durationMs: number;
  /** The differences from the expectations. The test has passed if the list is empty. */
  readonly failures: readonly string[];
  /** The averages of an eval case by metric. */
  readonly scores?: Readonly<Record<string, number>>;
  /** The conversation as text, as far as it went. */
  readonly transcript: string;
}

/**
 * Has a conversation with an agent, and compares each turn with its expectations. The conversation ends at the first
 * turn that differs, because the next message answers something that the agent did not say.
 */
export function runConversationTest(
  { name, turns }: ConversationTest,
  open: () => Promise<Conversation>,
  signal: AbortSignal,
): Promise<TestResult> {
  return runConversation(name, open, async (chat, { failures }) => {
    for (const [at, { send, fault = {}, expect = {} }] of turns.entries()) {
      if (fault.cut !== undefined) chat.cutNext(fault.cut);
      if (fault.kill !== undefined) chat.killNext(fault.kill);
      const turn = await chat.send(typeof send === "string" ? send : [...send], { signal });
      const differences = checkTurn(turn, expect);
      failures.push(...differences.map((difference) => `turn ${at + 1}: ${difference}`));
      if (differences.length > 0) return;
    }
  });
}

/** Opens a conversation for `work`, which adds to the result. An error that ends the conversation is a failure. */
export async function runConversation(
  name: string,
  open: () => Promise<Conversation>,
  work: (
    chat: Conversation,
    result: { readonly failures: string[]; readonly scores: Record<string, number> },
  ) => Promise<void>,
): Promise<TestResult> {
  const startedAt = performance.now();
  const failures: string[] = [];
  const scores: Record<string, number> = {};
  let transcript = "";
  try {
    await using chat = await open();
    try {
      await work(chat, { failures, scores });
    } finally {
      transcript = chat.transcript;
    }
  } catch (error) {
    failures.push(`The conversation ended with ${String(error)}`);
  }
  const durationMs = performance.now() - startedAt;
  return { name, durationMs, failures, ...(Object.keys(scores).length > 0 && { scores }), transcript };
}

const DEFAULT_MIN_SIMILARITY = 0.8;

/** Returns what differs from the expectations about a turn: a sentence for each. */
function checkTurn(turn: ConversationTurn, expected: TurnExpectation): string[] {
  const { state, text, question, artifacts, calls, order, maxTokens } = expected;
  const names = turn.artifacts.map(({ name, artifactId }) => name ?? artifactId);
  const tokens = turn.tokens && turn.tokens.inputTokens + turn.tokens.outputTokens;
  return [
    ...(state === undefined || state === turn.state
      ? []
      : [`The state is ${turn.state}, expected ${state}.${describeError(turn)}`]),
    ...(text === undefined ? [] : checkText("The text", turn.text, text)),
    ...(question === undefined ? [] : checkText("The question", turn.question, question)),
    ...(artifacts === undefined || artifacts.join("\n") === names.join("\n")
      ? []
      : [`The artifacts are ${list(names)}, expected ${list(artifacts)}.`]),
    ...(calls === undefined ? [] : catchMessage(() => assertCalls(turn, calls, order))),
    ...(maxTokens === undefined ? [] : checkTokens(tokens, maxTokens)),
  ];
}

function describeError({ error }: ConversationTurn): string {
  return error instanceof Error ? ` The agent threw ${String(error)}` : "";
}

function checkText(subject: string, actual: string | undefined, expected: TextExpectation): string[] {
  if (actual === undefined) return [`${subject} is missing.`];
  const shown = `${subject} is ${JSON.stringify(actual)}`;
  if (typeof expected === "string")
    return actual === expected ? [] : [`${shown}, expected ${JSON.stringify(expected)}.`];
  const { contains = [], matches, similarTo, minSimilarity = DEFAULT_MIN_SIMILARITY } = expected;
  const parts = typeof contains === "string" ? [contains] : contains;
  const differences = parts
    .filter((part) => !actual.includes(part))
    .map((part) => `${shown}, which does not contain ${JSON.stringify(part)}.`);
  if (matches !== undefined && !new RegExp(matches, "u").test(actual))
    differences.push(`${shown}, which does not match /${matches}/.`);
  const similarity = similarTo === undefined ? 1 : computeRouge1(similarTo, actual);
  if (similarity < minSimilarity)
    differences.push(
      `${shown}, which is similar to ${JSON.stringify(similarTo)} by ${similarity.toFixed(2)}, expected ${minSimilarity}.`,
    );
  return differences;
}

function checkTokens(tokens: number | undefined, maxTokens: number): string[] {
  if (tokens === undefined) return ["The number of tokens is unknown: no model call has reported it."];
  return tokens > maxTokens ? [`The turn used ${tokens} tokens, expected at most ${maxTokens}.`] : [];
}

function catchMessage(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
