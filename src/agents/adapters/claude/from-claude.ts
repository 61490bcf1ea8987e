import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { LruCache } from "../../../base/data-structures/index.ts";
import type { Agent, AgentDescription, TurnPolicy } from "../../../engine/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import { type AgentYield, failed } from "../agent-yield.ts";
import {
  formatPendingTaskRefusalReason,
  getConversationKey,
  isFirstTurnInTask,
} from "../conversation-store.ts";
import { createChildEnvironment } from "../command-environment.ts";
import {
  ADAPTER_OPTION_NAMES,
  createAdapterAgent,
  type GeneratorOptions,
  type Turn,
} from "../generator-agent.ts";
import { isClaudeVariable } from "./is-claude-variable.ts";
import { createSessionId, type SessionOptions, streamSession } from "./session.ts";
import { ClaudeMessageConverter, decodeClaudeResult } from "./sdk-message.ts";
import {
  type ClaudeQueryOptions,
  createPermissionHook,
  createQuestionPermission,
  createUserQuestion,
  findDeferredCallId,
  USER_QUESTION_TOOL,
} from "./tool-permission.ts";
import { toClaudeUserMessage } from "./user-message.ts";

/** The `query` function of the Claude Agent SDK. The type `O` is the type of its options. */
export type ClaudeQuery<O> = (parameters: { prompt: never; options: O }) => AsyncIterable<unknown>;

/** Options for `fromClaude`. */
export interface ClaudeOptions<O>
  extends
    AgentDescription,
    AgentLoopOutputOptions,
    Pick<GeneratorOptions, "afterRestart" | "artifacts" | keyof TurnPolicy> {
  /**
   * Returns the options of `query` for a single turn, for example `model`, `systemPrompt`, and `mcpServers`.
   * The adapter itself sets the session, the abort controller, and partial messages. Create in-process MCP
   * servers inside of this function, because a server serves only one query at a time. Without the option `env`,
   * the process of Claude inherits only the variables that configure Claude, and variables without secrets.
   */
  toQueryOptions?: (turn: Turn) => O;
  /**
   * Returns whether the user must approve a tool call. An approved call skips the permission prompt of the
   * SDK. The SDK's own permission rules apply to all other calls. Default: no call requires approval.
   */
  requireApproval?: (toolName: string, input: JsonObject) => boolean;
}

const assertKnownOptions = defineOptionNames<ClaudeOptions<object>>()(
  "fromClaude",
  ADAPTER_OPTION_NAMES,
  "afterRestart requireApproval showReasoning showToolCalls toQueryOptions",
);

/**
 * Creates an agent from the `query` function of the Claude Agent SDK.
 *
 * Each context of each caller is a session of Claude, and the SDK stores the session on disk. A tool call that
 * requires approval, and a question of the tool `AskUserQuestion`, set the task to INPUT_REQUIRED. The process
 * of Claude ends while the task waits, so the user may also answer after a restart of the server. Canceling
 * the task stops the process of Claude.
 */
export function fromClaude<O extends object>(query: ClaudeQuery<O>, options: ClaudeOptions<O>): Agent {
  assertKnownOptions(options);
  const {
    toQueryOptions,
    requireApproval = () => false,
    showReasoning = true,
    showToolCalls = true,
    ...agentOptions
  } = options;
  const knownSessionIds = new LruCache<true>(MAX_REMEMBERED_IDS);
  const canceledCallIds = new LruCache<true>(MAX_REMEMBERED_IDS);

  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const isFirstTurn = isFirstTurnInTask(turn);
    const [interruptedTask] = isFirstTurn ? await turn.listInterruptedTasks() : [];
    if (interruptedTask) yield failed(formatPendingTaskRefusalReason(interruptedTask.id));
    const queryOptions: ClaudeQueryOptions = toQueryOptions?.(turn) ?? {};
    const sessionId = createSessionId(agentOptions.name, getConversationKey(turn));
    const answeredCallId = isFirstTurn ? undefined : findDeferredCallId(turn.history);
    const needsPrompt = Promise.withResolvers<boolean>();
    // Claude executes the answered call without a prompt. Another turn of the model would follow a prompt.
    if (answeredCallId === undefined || turn.attempt > 1) needsPrompt.resolve(true);
    async function* streamPrompt(): AsyncGenerator<unknown, void, undefined> {
      if (await needsPrompt.promise) yield toClaudeUserMessage(turn.message);
    }
    const abortController = new AbortController();
    const abort = (): void => abortController.abort(turn.signal.reason);
    turn.signal.addEventListener("abort", abort);
    const hook = createPermissionHook({ requireApproval, answeredCallId, canceledCallIds, turn });
    const startQuery = (session: SessionOptions): AsyncIterable<unknown> => {
      const adapterOptions = {
        ...queryOptions,
        env: queryOptions.env ?? createChildEnvironment(process.env, (name) => isClaudeVariable(name)),
        ...createQuestionPermission(queryOptions),
        ...session,
        abortController,
        includePartialMessages: true,
        hooks: { ...queryOptions.hooks, PreToolUse: [...(queryOptions.hooks?.PreToolUse ?? []), hook] },
      };
      // The adapter does not know the types of the SDK, which is not one of its dependencies.
      return query({ prompt: streamPrompt() as never, options: adapterOptions as unknown as O });
    };
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const converter = new ClaudeMessageConverter(output);
    const isKnownSession = !isFirstTurn || knownSessionIds.get(sessionId) === true;
    let result: ReturnType<typeof decodeClaudeResult>;
    try {
      for await (const message of streamSession(startQuery, sessionId, isKnownSession)) {
        turn.progress();
        knownSessionIds.set(sessionId, true);
        yield* converter.convert(message);
        result = decodeClaudeResult(message) ?? result;
        // The tools of in-process MCP servers are not available until the session has received a prompt.
        if (result) needsPrompt.resolve(result.terminalReason === TOOL_UNAVAILABLE_REASON);
      }
    } catch (error) {
      turn.signal.throwIfAborted();
      throw error;
    } finally {
      needsPrompt.resolve(false);
      turn.signal.removeEventListener("abort", abort);
    }
    turn.signal.throwIfAborted();
    if (!result) throw new Error("Claude ended without a result. Check the option `stderr` of the query.");
    const { deferredToolUse, errorText, terminalReason } = result;
    if (errorText !== undefined || terminalReason === TOOL_UNAVAILABLE_REASON) {
      throw new Error(`Claude ended with an error (${terminalReason}). ${errorText ?? ""}`);
    }
    // Claude does not stream the output of slash commands.
    if (output.answerText === "") yield* output.emitText(result.text);
    output.setUsage(result);
    if (deferredToolUse?.name === USER_QUESTION_TOOL) {
      yield output.createFinalStatus(createUserQuestion(deferredToolUse));
    } else if (deferredToolUse) {
      const { id: toolCallId, name: toolName, input } = deferredToolUse;
      output.requestApproval({ toolCallId, toolName, input });
    }
    yield output.createFinalStatus();
  }

  return {
    ...createAdapterAgent(agentOptions, work),
    onTaskCanceled({ status }) {
      const callId = findDeferredCallId(status.message ? [status.message] : []);
      if (callId !== undefined) canceledCallIds.set(callId, true);
    },
  };
}

/** Maximum number of session ids, and of canceled calls, that an agent remembers. */
const MAX_REMEMBERED_IDS = 10_000;
const TOOL_UNAVAILABLE_REASON = "tool_deferred_unavailable";
