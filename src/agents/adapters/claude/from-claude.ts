import { createHash } from "node:crypto";
import { LruCache } from "../../../base/data-structures/index.ts";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, TurnPolicy } from "../../../engine/index.ts";
import type { JsonObject, Message, Part } from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import { type AgentYield, failed } from "../agent-yield.ts";
import { createChildEnvironment } from "../command-environment.ts";
import {
  type ConversationKey,
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
import { ClaudeMessageConverter, decodeClaudeResult } from "./sdk-message.ts";
import {
  type ClaudeQueryOptions,
  createPermissionHook,
  createQuestionPermission,
  createUserQuestion,
  findDeferredCallId,
  USER_QUESTION_TOOL,
} from "./tool-permission.ts";

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

const CLAUDE_VARIABLES = /^(?:ANTHROPIC|CLAUDE)_|^(?:HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS)$/i;
const BEDROCK_VARIABLES = /^AWS_/;
const VERTEX_VARIABLES = /^(?:GOOGLE|GCLOUD|CLOUD_ML|CLOUDSDK|VERTEX)_/;

/**
 * Returns whether an environment variable configures Claude Code. The credentials of AWS and of Google Cloud belong
 * to Claude Code only if it uses Bedrock or Vertex AI.
 */
function isClaudeVariable(
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (CLAUDE_VARIABLES.test(name)) return true;
  if (BEDROCK_VARIABLES.test(name)) return Boolean(env["CLAUDE_CODE_USE_BEDROCK"]);
  return VERTEX_VARIABLES.test(name) && Boolean(env["CLAUDE_CODE_USE_VERTEX"]);
}

/** The options of `query` that resume an existing session or create a session. */
type SessionOptions = { readonly resume: string } | { readonly sessionId: string };

/** Returns the id of a caller's session, which is the same after a restart. */
function createSessionId(agentName: string, { tenant, principal, contextId }: ConversationKey): string {
  const key = JSON.stringify([agentName, tenant, principal, contextId]);
  const hex = createHash("sha256").update(key).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** Resumes the session, or creates the session if it does not exist yet. */
async function* streamSession(
  startQuery: (session: SessionOptions) => AsyncIterable<unknown>,
  sessionId: string,
  isKnownSession: boolean,
): AsyncGenerator<unknown, void, undefined> {
  if (!isKnownSession) {
    try {
      yield* startQuery({ sessionId });
      return;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("already in use"))) throw error;
    }
  }
  yield* startQuery({ resume: sessionId });
}

/** A user message for the Claude Agent SDK, with content blocks of the Messages API. */
interface ClaudeUserMessage {
  readonly type: "user";
  readonly parent_tool_use_id: null;
  readonly message: { readonly role: "user"; readonly content: readonly ClaudeContentBlock[] };
}

type ClaudeContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "document"; readonly source: ClaudeFileSource };

type ClaudeFileSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "url"; readonly url: string };

/**
 * Converts an A2A message into a user message. Data parts become JSON text, because models have no data parts.
 * Claude accepts images and PDF documents, so other files become a line of text with the name of the file.
 */
function toClaudeUserMessage({ parts }: Pick<Message, "parts">): ClaudeUserMessage {
  return {
    type: "user",
    parent_tool_use_id: null,
    message: { role: "user", content: parts.map(toContentBlock) },
  };
}

function toContentBlock(part: Part): ClaudeContentBlock {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename = "file" } = part;
  const type = mediaType.startsWith("image/") ? "image" : "document";
  if (type === "document" && mediaType !== "application/pdf")
    return { type: "text", text: `[${mediaType}: ${filename}]` };
  const source: ClaudeFileSource =
    "raw" in part
      ? { type: "base64", media_type: mediaType, data: part.raw }
      : { type: "url", url: part.url };
  return { type, source };
}
