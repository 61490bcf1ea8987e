import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, TurnPolicy } from "../../../engine/index.ts";
import { getText } from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import type { AgentYield } from "../agent-yield.ts";
import { toUserMessage } from "../ai-sdk/messages.ts";
import {
  buildConversationFromTask,
  type ConversationStore,
  createMemoryConversationStore,
  encodeConversationKey,
  getConversationKey,
} from "../conversation-store.ts";
import {
  ADAPTER_OPTION_NAMES,
  createAdapterAgent,
  type GeneratorOptions,
  type Turn,
} from "../generator-agent.ts";
import { MastraCallReporter } from "./mastra-call-reporter.ts";
import { convertMastraChunk, type MastraChunk } from "./mastra-chunk.ts";
import type { MastraAgent } from "./mastra-structural-types.ts";
import { createSuspendQuestion, findSuspendedCall, resumeSuspendedCall } from "./suspended-call.ts";

/** A text message of an earlier turn, for Mastra agents without memory. */
export interface MastraTextMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Options for `fromMastra`. */
export interface MastraOptions
  extends
    Partial<AgentDescription>,
    AgentLoopOutputOptions,
    Pick<GeneratorOptions, "afterRestart" | "artifacts" | keyof TurnPolicy> {
  /**
   * The store for the text of earlier turns. The adapter ignores the store if the Mastra agent has its own
   * memory. Default: the last 1,000 conversations in memory.
   */
  conversationStore?: ConversationStore<MastraTextMessage>;
  /** Returns further options of `Agent.stream` for a single turn, for example `{ maxSteps: 3 }`. */
  toStreamOptions?: (turn: Turn) => Readonly<Record<string, unknown>>;
}

const assertKnownOptions = defineOptionNames<MastraOptions>()(
  "fromMastra",
  ADAPTER_OPTION_NAMES,
  "afterRestart conversationStore showReasoning showToolCalls toStreamOptions",
);

/**
 * Creates an agent from an `Agent` of Mastra. The name and the description of the A2A agent are those of the
 * Mastra agent, unless the options contain others.
 *
 * A tool that requires approval, or that calls `suspend`, sets the task to INPUT_REQUIRED. The user answers an
 * approval request with `{ approvalId, approved }` or with a plain "yes". A suspended tool receives the data
 * part or the text of the user's answer as its `resumeData`. If the agent has a memory, its thread is the
 * context id, prefixed with the name of an authenticated caller, and its resource is the caller.
 */
export function fromMastra(source: MastraAgent, options: MastraOptions = {}): Agent {
  assertKnownOptions(options);
  const {
    conversationStore = createMemoryConversationStore<MastraTextMessage>(({ role }) => role === "user"),
    toStreamOptions = (): Readonly<Record<string, unknown>> => ({}),
    showReasoning = true,
    showToolCalls = true,
    ...agentOptions
  } = options;
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const conversationKey = getConversationKey(turn);
    const hasMemory = source.hasOwnMemory();
    const streamOptions = {
      ...toStreamOptions(turn),
      ...(hasMemory ? { memory: toMemoryOptions(turn) } : {}),
      abortSignal: turn.signal,
    };
    const runId = `${turn.taskId}/${turn.message.messageId}`;
    const suspendedCall = findSuspendedCall(turn);
    const earlierMessages = hasMemory ? [] : await loadEarlierMessages(conversationStore, turn);
    const stream = suspendedCall
      ? await resumeSuspendedCall(source, suspendedCall, turn, streamOptions)
      : await source.stream(
          [...earlierMessages, toUserMessage(turn.message)] as never,
          { ...streamOptions, runId } as never,
        );
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const reporter = turn.reportCall && new MastraCallReporter(turn.reportCall);
    let question: AgentEvent | undefined;
    for await (const chunk of stream.fullStream as AsyncIterable<MastraChunk>) {
      turn.progress();
      reporter?.observe(chunk);
      if (chunk.type === "error") reporter?.end(chunk.payload.error);
      if (chunk.type === "error") throw chunk.payload.error;
      if (chunk.type === "tripwire") throw new Error(`A processor stopped the run: ${chunk.payload.reason}`);
      if (chunk.type === "tool-call-approval") {
        const { toolCallId, toolName, args: input } = chunk.payload;
        output.requestApproval({ toolCallId, toolName, input }, { runId: chunk.runId });
      } else if (chunk.type === "tool-call-suspended") question = createSuspendQuestion(chunk);
      else yield* convertMastraChunk(chunk, output);
    }
    reporter?.end();
    turn.signal.throwIfAborted();
    const messages: MastraTextMessage[] = [
      { role: "user", content: turn.text },
      { role: "assistant", content: output.answerText },
    ];
    if (!hasMemory) await conversationStore.append(conversationKey, messages.filter(hasContent));
    yield output.createFinalStatus(question);
  }
  const nameAndDescription = { name: source.name, description: source.getDescription() };
  return createAdapterAgent({ ...nameAndDescription, ...agentOptions }, work);
}

/** Anonymous callers have no name that separates them, so the thread of an anonymous caller is its resource. */
function toMemoryOptions(turn: Turn): { thread: string; resource: string } {
  const { tenant, principal, contextId } = getConversationKey(turn);
  const thread = encodeConversationKey({ tenant, principal, contextId });
  return { thread, resource: principal === "" ? thread : JSON.stringify([tenant, principal]) };
}

async function loadEarlierMessages(
  conversationStore: ConversationStore<MastraTextMessage>,
  turn: Turn,
): Promise<readonly MastraTextMessage[]> {
  const storedMessages = await conversationStore.load(getConversationKey(turn));
  if (storedMessages.length > 0) return storedMessages;
  return buildConversationFromTask<MastraTextMessage>(
    turn,
    ({ parts }) => ({ role: "user", content: getText(parts) }),
    (content) => ({ role: "assistant", content }),
  );
}

function hasContent({ content }: MastraTextMessage): boolean {
  return content !== "";
}
