import { checkTurn } from "./check-turn.ts";
import type { Conversation } from "../../studio/testing/index.ts";
import type { ConversationTest } from "./test-file.ts";

/** The result of one trial of a test. */
export interface TestResult {
  readonly name: string;
  /** Milliseconds. */
  readonly durationMs: number;
  /** What differed from the expectations. The test has passed if the list is empty. */
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
export async function runConversationTest(
  { name, turns }: ConversationTest,
  open: () => Promise<Conversation>,
  signal: AbortSignal,
): Promise<TestResult> {
  const startedAt = performance.now();
  const failures: string[] = [];
  let transcript = "";
  try {
    await using chat = await open();
    for (const [at, { send, expect = {} }] of turns.entries()) {
      const turn = await chat.send(typeof send === "string" ? send : [...send], { signal });
      transcript = chat.transcript;
      const differences = checkTurn(turn, expect);
      failures.push(...differences.map((difference) => `turn ${at + 1}: ${difference}`));
      if (differences.length > 0) break;
    }
  } catch (error) {
    failures.push(`The conversation ended with ${String(error)}`);
  }
  return { name, durationMs: performance.now() - startedAt, failures, transcript };
}
