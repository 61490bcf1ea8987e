import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent as OpenAiAgent, AgentOutputType, AgentInputItem, Runner, RunState } from "@openai/agents";
import type { Agent, AgentDescription, TurnPolicy } from "../../../engine/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import { type AgentYield, failed } from "../agent-yield.ts";
import { type ApprovalDecision, decodeApprovalDecisions } from "../approval-decisions.ts";
import {
  buildConversationFromTask,
  type ConversationStore,
  createMemoryConversationStore,
  formatPendingTaskRefusalReason,
  getConversationKey,
  isFirstTurnInTask,
} from "../conversation-store.ts";
import {
  ADAPTER_OPTION_NAMES,
  createAdapterAgent,
  type GeneratorOptions,
  type Turn,
} from "../generator-agent.ts";
import { toAssistantItem, toUserItem } from "./input-items.ts";
import { OpenAiAgentsCallReporter } from "./openai-agents-call-reporter.ts";
import { convertRunStreamEvent, decodeToolItem } from "./run-stream-event.ts";

/**
 * A record of a conversation. `items` are the model's input and output items of a completed turn. `runState`
 * is the serialized state of a run that waits for the user's approval.
 */
export type OpenAiAgentsRecord =
  | { readonly items: AgentInputItem[] }
  | { readonly runState: string; readonly userItem: AgentInputItem };

/** Options of a single run, in addition to the options that the adapter itself sets. */
export interface OpenAiAgentsRunOptions<C> {
  /** The local context that tools receive. */
  readonly context?: C;
  /** Maximum number of model calls per run. Default: the default of the SDK. */
  readonly maxTurns?: number;
}

/** Options for `fromOpenAiAgents`. */
export interface OpenAiAgentsOptions<C>
  extends
    Partial<AgentDescription>,
    AgentLoopOutputOptions,
    Pick<GeneratorOptions, "afterRestart" | "artifacts" | keyof TurnPolicy> {
  /**
   * The store for the items of earlier turns, and for the state of runs that wait for an approval. Default:
   * the last 1,000 conversations in memory.
   */
  conversationStore?: ConversationStore<OpenAiAgentsRecord>;
  /** The runner with the model provider and the tracing settings. Default: a new `Runner`. */
  runner?: Runner;
  /** Returns the options of the run for a single turn, for example the local context of the tools. */
  toRunOptions?: (turn: Turn) => OpenAiAgentsRunOptions<C>;
}

const assertKnownOptions = defineOptionNames<OpenAiAgentsOptions<unknown>>()(
  "fromOpenAiAgents",
  ADAPTER_OPTION_NAMES,
  "afterRestart conversationStore runner showReasoning showToolCalls toRunOptions",
);

/**
 * Creates an agent from an `Agent` of the OpenAI Agents SDK. The name of the A2A agent is the name of the
 * `Agent`, and its description is `handoffDescription`, unless the options contain others.
 *
 * A tool with `needsApproval` sets the task to INPUT_REQUIRED. The user answers with `{ approvalId, approved
 * }` or with a plain "yes". Each context id is a separate conversation. Canceling the task aborts the run.
 */
export function fromOpenAiAgents<C = unknown, O extends AgentOutputType = "text">(
  source: OpenAiAgent<C, O>,
  options: OpenAiAgentsOptions<C> = {},
): Agent {
  assertKnownOptions(options);
  const {
    conversationStore = createMemoryConversationStore<OpenAiAgentsRecord>(() => true),
    runner: configuredRunner,
    toRunOptions = (): OpenAiAgentsRunOptions<C> => ({}),
    showReasoning = true,
    showToolCalls = true,
    ...agentOptions
  } = options;
  let defaultRunner: Runner | undefined;
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const sdk = await import("@openai/agents");
    const runner = configuredRunner ?? (defaultRunner ??= new sdk.Runner());
    const conversationKey = getConversationKey(turn);
    const records = await conversationStore.load(conversationKey);
    const lastRecord = records.at(-1);
    const pendingRun = lastRecord && "runState" in lastRecord ? lastRecord : undefined;
    if (pendingRun && isFirstTurnInTask(turn)) {
      const [interruptedTask] = await turn.listInterruptedTasks();
      if (interruptedTask) yield failed(formatPendingTaskRefusalReason(interruptedTask.id));
    }
    // The run of a canceled task is not resumed, and the conversation continues without its message.
    const resumedRun = isFirstTurnInTask(turn) ? undefined : pendingRun;
    const userItem = resumedRun?.userItem ?? toUserItem(turn.message);
    const input = resumedRun
      ? decideInterruptions(
          await sdk.RunState.fromString<C, OpenAiAgent<C, O>>(source, resumedRun.runState),
          decodeApprovalDecisions(turn.message),
        )
      : [...listEarlierItems(records, turn), userItem];
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const runOptions = toRunOptions(turn);
    const reporter =
      turn.reportCall &&
      new OpenAiAgentsCallReporter(sdk, turn.reportCall, runner, input, runOptions.context);
    const result = await runner.run(source, input, {
      ...runOptions,
      ...reporter?.runOptions,
      signal: turn.signal,
      stream: true,
    });
    const events = reporter ? reporter.observeEvents(result) : result;
    for await (const event of events) {
      turn.progress();
      yield* convertRunStreamEvent(event, output);
    }
    turn.signal.throwIfAborted();
    await result.completed;
    output.setUsage(result.runContext.usage);
    if (result.interruptions.length === 0) yield* emitFinalOutput(result.finalOutput, output);
    for (const { rawItem } of result.interruptions) output.requestApproval(decodeToolItem(rawItem));
    await conversationStore.append(conversationKey, [
      result.interruptions.length > 0
        ? { runState: result.state.toString(), userItem }
        : { items: [userItem, ...result.output] },
    ]);
    yield output.createFinalStatus();
  }
  const { name, handoffDescription } = source;
  return createAdapterAgent({ name, description: handoffDescription, ...agentOptions }, work);
}

/** Emits the final output if it is the result of a tool, or the text of a model that does not stream. */
function* emitFinalOutput(
  finalOutput: unknown,
  output: AgentLoopOutput,
): Generator<AgentYield, void, undefined> {
  if (finalOutput === undefined) return;
  if (typeof finalOutput !== "string") {
    // The model has streamed the JSON of a structured output, possibly with other whitespace.
    if (output.answerText === "") yield* output.emitText(JSON.stringify(finalOutput));
  } else if (!output.answerText.endsWith(finalOutput)) yield* output.emitText(finalOutput);
}

function listEarlierItems(records: readonly OpenAiAgentsRecord[], turn: Turn): AgentInputItem[] {
  const items = records.flatMap((record) => ("items" in record ? record.items : []));
  return items.length > 0 ? items : buildConversationFromTask(turn, toUserItem, toAssistantItem);
}

/** Applies the decisions of the user to the calls that wait for them. */
function decideInterruptions<C, O extends AgentOutputType>(
  state: RunState<C, OpenAiAgent<C, O>>,
  findDecision: (approvalId: string) => ApprovalDecision,
): RunState<C, OpenAiAgent<C, O>> {
  for (const approvalItem of state.getInterruptions()) {
    const { approved, reason } = findDecision(decodeToolItem(approvalItem.rawItem).toolCallId);
    if (approved) state.approve(approvalItem);
    else state.reject(approvalItem, reason === undefined ? {} : { message: reason });
  }
  return state;
}
