import { setTimeout as pause } from "node:timers/promises";
import { type ModelMessage, ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import type { ConversationStore } from "../../src/agents/adapters/index.ts";
import { fromAiSdk } from "../../src/agents/adapters/ai-sdk/index.ts";
import {
  createScriptedModel,
  createToolCall,
} from "../../src/agents/adapters/ai-sdk/scripted-model.fixture.ts";
import type { Agent } from "../../src/engine/index.ts";

/** What a page must show at the end of an answer. */
export interface ExpectedAnswer {
  readonly text: string;
  readonly tools: readonly string[];
}

const WORDS_PER_STEP = 40;
const createWords = (step: number): string[] =>
  Array.from({ length: WORDS_PER_STEP }, (_, index) => `${step}-${index} `);

const STEPS = [
  { toolName: "look", toolCallId: "call-look", input: { at: "sky" }, output: { color: "blue" } },
  { toolName: "pay", toolCallId: "call-pay", input: { euros: 80 }, output: { paid: 80 } },
] as const;

export const EXPECTED_ANSWER: ExpectedAnswer = {
  // Text before and after a tool call of one turn is separated into paragraphs.
  text: `${createWords(0).join("")}\n\n${[1, 2].flatMap(createWords).join("")}`,
  tools: STEPS.map(({ toolName, toolCallId, input, output }) =>
    JSON.stringify({ toolName, toolCallId, input, output }),
  ),
};

/**
 * Creates an agent of the AI SDK with a scripted model: words, a call of a tool, words, a call that requires approval, and
 * words. Each word is different, so that a lost or a repeated one shows. `onModelAbort` is called when the signal of the
 * model call aborts.
 */
export function createApprovingAgent(
  wordMs: number,
  conversationStore: ConversationStore<ModelMessage>,
  onModelAbort: () => void,
): Agent {
  const model = createScriptedModel(async function* (prompt, signal) {
    signal?.addEventListener("abort", onModelAbort, { once: true });
    const step = prompt
      .filter(({ role }) => role === "tool")
      .flatMap(({ content }) =>
        typeof content === "string" ? [] : content.filter(({ type }) => type === "tool-result"),
      ).length;
    for (const word of createWords(step)) {
      await pause(wordMs, undefined, signal ? { signal } : {});
      yield word;
    }
    const call = STEPS[step];
    if (call) yield createToolCall(call.toolName, call.input, call.toolCallId);
    signal?.removeEventListener("abort", onModelAbort);
  });
  return fromAiSdk(
    new ToolLoopAgent({
      model,
      tools: {
        look: tool({ inputSchema: z.object({ at: z.string() }), execute: () => STEPS[0].output }),
        pay: tool({ inputSchema: z.object({ euros: z.number() }), execute: () => STEPS[1].output }),
      },
      toolApproval: { pay: "user-approval" },
    }),
    { name: "approver", description: "Looks, and pays after an approval", conversationStore },
  );
}
