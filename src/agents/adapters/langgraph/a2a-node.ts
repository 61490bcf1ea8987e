import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { isObject } from "../../../protocol/index.ts";
import { createHash } from "node:crypto";
import { LruCache } from "../../../base/data-structures/index.ts";
import type { ConnectOptions, MessageInput, A2AClient } from "../../../client/index.ts";
import { RemoteAgentClient, type RemoteAgentAnswer } from "../remote-agent-client.ts";

/** Options for `a2aNode`. */
export interface A2aNodeOptions<S, U> {
  /** Converts the state of the graph to the message for the agent. */
  readonly toInput: (state: S) => MessageInput;
  /** Converts the agent's answer to an update of the graph's state. */
  readonly toStateUpdate: (answer: RemoteAgentAnswer, state: S) => U;
  /** Connection options for an agent that is passed as a URL. */
  readonly connectOptions?: ConnectOptions;
}

const assertKnownOptions = defineOptionNames<A2aNodeOptions<unknown, unknown>>()(
  "a2aNode",
  "connectOptions toInput toStateUpdate",
);

/** The fields of the LangGraph config that the node reads. */
interface NodeConfig {
  readonly configurable?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly writer?: ((chunk: unknown) => void) | undefined;
}

/** Maximum number of cached agent answers for interrupted nodes. */
const MAX_CACHED_AGENT_ANSWERS = 1_000;

/**
 * Creates a LangGraph node from any A2A agent. Status updates from the agent become custom events of the
 * graph. A question from the agent becomes an `interrupt`, and the agent receives the resume value as the
 * answer. Aborting the graph cancels the agent's task. The node uses the thread id of the graph as the
 * context id.
 *
 * After an interrupt, LangGraph runs the node again from its beginning. The node therefore caches the agent's
 * answers in this process and does not call the agent again.
 *
 * After a restart of the process, the node sends the first message again with the same id. An agent that
 * deduplicates messages, such as a Colloquy agent, does not process the repeated message. The node does not
 * send a later message if the agent's task already contains the message.
 */
export function a2aNode<S, U>(
  agent: string | A2AClient,
  options: A2aNodeOptions<S, U>,
): (state: S, config: NodeConfig) => Promise<U> {
  assertKnownOptions(options);
  const { toInput, toStateUpdate, connectOptions } = options;
  const client = new RemoteAgentClient(agent, connectOptions);
  const cachedAnswers = new LruCache<RemoteAgentAnswer>(MAX_CACHED_AGENT_ANSWERS);
  return async (state, config) => {
    const nodeKey = deriveNodeKeyFromThreadConfig(config);
    let input = toInput(state);
    let answer: RemoteAgentAnswer | undefined;
    // After a restart, the cache is empty, so earlier answers are read from the agent's task.
    let isCached = true;
    for (let step = 0; ; step++) {
      const messageId =
        nodeKey === undefined ? crypto.randomUUID() : computeA2AMessageIdForNodeStep(nodeKey, step);
      const cachedAnswer = cachedAnswers.get(messageId);
      const earlierAnswer =
        cachedAnswer ??
        (isCached ? undefined : await findAnswerInAgentTask(client, messageId, answer, config));
      isCached = cachedAnswer !== undefined;
      answer = earlierAnswer ?? (await requestRemoteAgentAnswer(client, input, messageId, answer, config));
      if (answer.state !== "input-required" && answer.state !== "auth-required")
        return toStateUpdate(answer, state);
      cachedAnswers.set(messageId, answer);
      const { status = "", data } = answer;
      const { interrupt } = await import("@langchain/langgraph");
      input = resumeValueToMessageInput(interrupt(data ? { question: status, data } : status));
    }
  };
}

function findAnswerInAgentTask(
  client: RemoteAgentClient,
  messageId: string,
  previousAnswer: RemoteAgentAnswer | undefined,
  { signal = new AbortController().signal }: NodeConfig,
): Promise<RemoteAgentAnswer | undefined> {
  return previousAnswer?.taskId === undefined
    ? Promise.resolve(undefined)
    : client.findAnswerToSentMessage(messageId, previousAnswer.taskId, signal);
}

async function requestRemoteAgentAnswer(
  client: RemoteAgentClient,
  input: MessageInput,
  messageId: string,
  previousAnswer: RemoteAgentAnswer | undefined,
  { configurable = {}, signal, writer }: NodeConfig,
): Promise<RemoteAgentAnswer> {
  const thread = configurable["thread_id"];
  const contextId = previousAnswer?.contextId ?? (typeof thread === "string" ? thread : undefined);
  const call = {
    messageId,
    contextId,
    taskId: previousAnswer?.taskId,
    signal: signal ?? new AbortController().signal,
  };
  let answer: RemoteAgentAnswer | undefined;
  for await (const partialAnswer of client.streamAnswer(input, call)) {
    const isNewStatus =
      partialAnswer.state === "working" &&
      partialAnswer.status !== undefined &&
      partialAnswer.status !== answer?.status;
    if (isNewStatus) writer?.(partialAnswer.status);
    answer = partialAnswer;
  }
  return answer as RemoteAgentAnswer;
}

/**
 * Returns a key that identifies a node and its position in the thread. The key is stable between runs.
 * Returns `undefined` if the graph has no checkpointer.
 */
function deriveNodeKeyFromThreadConfig({ configurable = {} }: NodeConfig): string | undefined {
  const { thread_id, checkpoint_ns } = configurable;
  return typeof thread_id === "string" && typeof checkpoint_ns === "string"
    ? `${thread_id}\n${checkpoint_ns}`
    : undefined;
}

function computeA2AMessageIdForNodeStep(nodeKey: string, step: number): string {
  return createHash("sha256").update(`${nodeKey}\n${step}`).digest("hex").slice(0, 32);
}

function resumeValueToMessageInput(resumed: unknown): MessageInput {
  if (typeof resumed === "string") return resumed;
  if (isObject(resumed) && Array.isArray(resumed["parts"])) return resumed as unknown as MessageInput;
  return [{ data: JSON.parse(JSON.stringify(resumed ?? null)) }];
}
