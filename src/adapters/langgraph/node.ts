import { createHash } from "node:crypto";
import { interrupt } from "@langchain/langgraph";
import { LruCache } from "../../data-structures/index.ts";
import type { ConnectOptions, MessageInput, A2AClient } from "../../client/index.ts";
import { RemoteAgentClient, type RemoteAgentAnswer } from "../remote-agent-client.ts";
import { isRecord } from "./langchain-message.ts";

export interface A2aNodeOptions<S, U> {
  /** What the agent is told. */
  readonly toInput: (state: S) => MessageInput;
  /** What becomes of its answer in the state. */
  readonly toStateUpdate: (answer: RemoteAgentAnswer, state: S) => U;
  /** How to connect when the agent is given by its URL. */
  readonly connectOptions?: ConnectOptions;
}

/** What a node reads of the config that LangGraph gives it. */
interface NodeConfig {
  readonly configurable?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly writer?: ((chunk: unknown) => void) | undefined;
}

/** An answer that waits for its place in a graph to be gone through again. */
const MAX_CACHED_ANSWERS = 1_000;

/**
 * Any A2A agent as a node of a LangGraph graph. What it says of its state goes out as custom events; what it asks is an
 * `interrupt`, and what the graph is resumed with its answer; an aborted run cancels its task. The conversation with it is
 * the graph's thread.
 *
 * LangGraph runs a node again from its beginning when it is resumed. The agent is not asked again: what it answered is
 * kept in this process. After a restart the first message is sent once more, under the same id, which an agent that
 * deduplicates (ours does) takes for the same message; whether it has the others already, its task is asked.
 */
export function a2aNode<S, U>(
  agent: string | A2AClient,
  { toInput, toStateUpdate, connectOptions }: A2aNodeOptions<S, U>,
): (state: S, config: NodeConfig) => Promise<U> {
  const client = new RemoteAgentClient(agent, connectOptions);
  const cachedAnswers = new LruCache<RemoteAgentAnswer>(MAX_CACHED_ANSWERS);
  return async (state, config) => {
    const nodeKey = findNodeKey(config);
    let input = toInput(state);
    let answer: RemoteAgentAnswer | undefined;
    // Of a graph that goes on in another process nothing is kept; what was said there, the agent's task knows.
    let isCached = true;
    for (let step = 0; ; step++) {
      const messageId = nodeKey === undefined ? crypto.randomUUID() : computeMessageId(nodeKey, step);
      const cachedAnswer = cachedAnswers.get(messageId);
      const earlierAnswer =
        cachedAnswer ?? (isCached ? undefined : await findEarlierAnswer(client, messageId, answer, config));
      isCached = cachedAnswer !== undefined;
      answer = earlierAnswer ?? (await requestAnswer(client, input, messageId, answer, config));
      if (answer.state !== "input-required" && answer.state !== "auth-required")
        return toStateUpdate(answer, state);
      cachedAnswers.set(messageId, answer);
      const { status = "", data } = answer;
      input = toMessageInput(interrupt(data ? { question: status, data } : status));
    }
  };
}

function findEarlierAnswer(
  client: RemoteAgentClient,
  messageId: string,
  previousAnswer: RemoteAgentAnswer | undefined,
  { signal = new AbortController().signal }: NodeConfig,
): Promise<RemoteAgentAnswer | undefined> {
  return previousAnswer?.taskId === undefined
    ? Promise.resolve(undefined)
    : client.findAnswer(messageId, previousAnswer.taskId, signal);
}

async function requestAnswer(
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

/** Where in which thread a node is: the same when it is run again; undefined without a checkpointer. */
function findNodeKey({ configurable = {} }: NodeConfig): string | undefined {
  const { thread_id, checkpoint_ns } = configurable;
  return typeof thread_id === "string" && typeof checkpoint_ns === "string"
    ? `${thread_id}\n${checkpoint_ns}`
    : undefined;
}

function computeMessageId(nodeKey: string, step: number): string {
  return createHash("sha256").update(`${nodeKey}\n${step}`).digest("hex").slice(0, 32);
}

function toMessageInput(resumed: unknown): MessageInput {
  if (typeof resumed === "string") return resumed;
  if (isRecord(resumed) && Array.isArray(resumed["parts"])) return resumed as unknown as MessageInput;
  return [{ data: JSON.parse(JSON.stringify(resumed ?? null)) }];
}
