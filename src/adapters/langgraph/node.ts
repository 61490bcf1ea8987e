import { createHash } from "node:crypto";
import { interrupt } from "@langchain/langgraph";
import { Recent } from "../../base/index.ts";
import type { ConnectOptions, Input, Remote } from "../../client/index.ts";
import { FarAgent, type FarAnswer } from "../far-agent.ts";
import { isRecord } from "./message.ts";

export interface A2aNodeOptions<S, U> {
  /** What the agent is told. */
  readonly input: (state: S) => Input;
  /** What becomes of its answer in the state. */
  readonly output: (answer: FarAnswer, state: S) => U;
  /** How to connect when the agent is given by its URL. */
  readonly connect?: ConnectOptions;
}

/** What a node reads of the config that LangGraph gives it. */
interface NodeConfig {
  readonly configurable?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly writer?: ((chunk: unknown) => void) | undefined;
}

/** An answer that waits for its place in a graph to be gone through again. */
const MOST_WAITING = 1_000;

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
  agent: string | Remote,
  { input, output, connect }: A2aNodeOptions<S, U>,
): (state: S, config: NodeConfig) => Promise<U> {
  const far = new FarAgent(agent, connect);
  const kept = new Recent<FarAnswer>(MOST_WAITING);
  return async (state, config) => {
    const place = placeOf(config);
    let said = input(state);
    let answer: FarAnswer | undefined;
    // Of a graph that goes on in another process nothing is kept; what was said there, the agent's task knows.
    let isKept = true;
    for (let step = 0; ; step++) {
      const messageId = place === undefined ? crypto.randomUUID() : idOf(place, step);
      const known = kept.get(messageId);
      const found = known ?? (isKept ? undefined : await answerTo(far, messageId, answer, config));
      isKept = known !== undefined;
      answer = found ?? (await ask(far, said, messageId, answer, config));
      if (answer.state !== "input-required" && answer.state !== "auth-required") return output(answer, state);
      kept.set(messageId, answer);
      const { status = "", data } = answer;
      said = toInput(interrupt(data ? { question: status, data } : status));
    }
  };
}

function answerTo(
  far: FarAgent,
  messageId: string,
  before: FarAnswer | undefined,
  { signal = new AbortController().signal }: NodeConfig,
): Promise<FarAnswer | undefined> {
  return before?.taskId === undefined
    ? Promise.resolve(undefined)
    : far.answerTo(messageId, before.taskId, signal);
}

async function ask(
  far: FarAgent,
  said: Input,
  messageId: string,
  before: FarAnswer | undefined,
  { configurable = {}, signal, writer }: NodeConfig,
): Promise<FarAnswer> {
  const thread = configurable["thread_id"];
  const contextId = before?.contextId ?? (typeof thread === "string" ? thread : undefined);
  const call = {
    messageId,
    contextId,
    taskId: before?.taskId,
    signal: signal ?? new AbortController().signal,
  };
  let answer: FarAnswer | undefined;
  for await (const heard of far.ask(said, call)) {
    const isNews = heard.state === "working" && heard.status !== undefined && heard.status !== answer?.status;
    if (isNews) writer?.(heard.status);
    answer = heard;
  }
  return answer as FarAnswer;
}

/** Where in which thread a node is: the same when it is run again; undefined without a checkpointer. */
function placeOf({ configurable = {} }: NodeConfig): string | undefined {
  const { thread_id: thread, checkpoint_ns: namespace } = configurable;
  return typeof thread === "string" && typeof namespace === "string" ? `${thread}\n${namespace}` : undefined;
}

function idOf(place: string, step: number): string {
  return createHash("sha256").update(`${place}\n${step}`).digest("hex").slice(0, 32);
}

function toInput(resumed: unknown): Input {
  if (typeof resumed === "string") return resumed;
  if (isRecord(resumed) && Array.isArray(resumed["parts"])) return resumed as unknown as Input;
  return [{ data: JSON.parse(JSON.stringify(resumed ?? null)) }];
}
