import { checkTurn } from "./check-turn.ts";
import type { Conversation } from "../../studio/testing/index.ts";
import type { ConversationTest } from "./test-file.ts";

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
