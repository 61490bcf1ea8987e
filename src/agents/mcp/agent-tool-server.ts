import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import { untilAborted } from "../../client/index.ts";
import type { Observer } from "../../engine/index.ts";
import { runInTraceScope } from "../../observe/telemetry/index.ts";
import {
  A2AError,
  ArtifactContentTracker,
  getText,
  isTerminal,
  parseTraceContext,
  type SendMessageResponse,
  type StreamResponse,
} from "../../protocol/index.ts";
import { callAgent } from "./call-agent.ts";
import { toCallToolError, toCallToolResult } from "./call-tool-result.ts";
import { canElicit, type McpServerSdk, supportsMcpTasks } from "./host-capabilities.ts";
import { isA2AError } from "./is-a2a-error.ts";
import { formatQuestion } from "./question-limiter.ts";
import { stripInvisibleAndTruncateText, truncateStart } from "./sanitize-text.ts";
import { createSkillTools, type SkillTool, type ToolDefinition } from "./skill-tool.ts";
import {
  cancelUnlessEnded,
  type McpTaskAgent,
  type McpTaskCall,
  McpTaskOperations,
} from "./tasks/mcp-task-operations.ts";
import { type CreateMcpTaskResult, MCP_TASKS_EXTENSION } from "./tasks/mcp-task.ts";
import { createTaskHandlerInstaller } from "./tasks/task-request-handlers.ts";
import { toCreateMcpTaskResult } from "./tasks/to-mcp-task.ts";
import { type AgentRequestFromToolCall, decodeToolArguments } from "./tool-arguments.ts";

/** Options for a `AgentToolServer`. */
interface AgentToolServerOptions {
  /** The name of the MCP server, which hosts display. */
  readonly name: string;
  readonly version: string;
  /**
   * Whether the host's user, instead of the model, answers an agent's questions, if the host supports MCP
   * elicitation. By default, the user answers only the questions of MCP tasks.
   */
  readonly askUser: boolean | undefined;
  /** Time in milliseconds before a tool call returns the unfinished task. */
  readonly waitMs: number | undefined;
  /** Time in milliseconds before a tool call continues as an MCP task, if the host supports MCP Tasks. */
  readonly taskAfterMs: number;
  readonly observer: Pick<Observer, "onError">;
}

interface AgentTool extends SkillTool {
  readonly agentId: string;
  readonly agent: McpTaskAgent;
}

type ToolCallResponse = CallToolResult | InputRequiredResult | CreateMcpTaskResult;

/** Serves the tools of several agents, and tracks the pending tool calls. */
export class AgentToolServer {
  readonly taskOperations: McpTaskOperations;
  readonly #sdk: McpServerSdk;
  readonly #options: AgentToolServerOptions;
  readonly #agents: ReadonlyMap<string, McpTaskAgent>;
  #toolsByName: ReadonlyMap<string, AgentTool>;
  readonly #pendingCalls = new Set<Promise<unknown>>();
  readonly #closeController = new AbortController();
  readonly #setTaskHandlers: (server: Server) => void;

  constructor(sdk: McpServerSdk, agents: ReadonlyMap<string, McpTaskAgent>, options: AgentToolServerOptions) {
    this.#sdk = sdk;
    this.#options = options;
    this.#agents = agents;
    this.#toolsByName = createAgentTools(agents);
    this.taskOperations = new McpTaskOperations(agents);
    this.#setTaskHandlers = createTaskHandlerInstaller({
      sdk,
      operations: this.taskOperations,
      createCall: (server, context) => this.#createTaskCall(server, context),
      onError: (where, error) => options.observer.onError?.({ where, error }),
    });
  }

  get tools(): readonly ToolDefinition[] {
    return [...this.#toolsByName.values()].map(({ tool }) => tool);
  }

  /**
   * Fetches the agent cards that are no longer fresh, and returns whether the tools have changed. An agent
   * whose card cannot be fetched keeps its tools.
   */
  async refreshTools(): Promise<boolean> {
    const previous = JSON.stringify(this.tools);
    await Promise.all(
      [...this.#agents].map(async ([agentId, { client }]) => {
        try {
          await client.refreshCard({ signal: this.#closeController.signal });
        } catch (error) {
          this.#options.observer.onError?.({ where: `the card of ${agentId}`, error });
        }
      }),
    );
    this.#toolsByName = createAgentTools(this.#agents);
    return JSON.stringify(this.tools) !== previous;
  }

  /** Creates an SDK server with its own state for a single connection or a single HTTP request. */
  createSdkServer(): Server {
    const { name, version } = this.#options;
    const server = new this.#sdk.Server(
      { name, version },
      {
        capabilities: { tools: { listChanged: true }, extensions: { [MCP_TASKS_EXTENSION]: {} } },
        instructions: SERVER_INSTRUCTIONS,
      },
    );
    this.#setTaskHandlers(server);
    // Without a schema, the SDK replies to invalid parameters with an internal error.
    const listParams = this.#sdk.fromJsonSchema<{ cursor?: string }>({
      type: "object",
      properties: { cursor: { type: "string" } },
    });
    server.setRequestHandler("tools/list", { params: listParams }, () => ({ tools: [...this.tools] }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const call = runInTraceOfToolCall(params["_meta"], () =>
        this.#callTool(server, params.name, params.arguments ?? {}, context),
      );
      this.#pendingCalls.add(call);
      // The SDK passes results with `resultType: "task"` on, but does not declare their type.
      return call.finally(() => this.#pendingCalls.delete(call)) as Promise<CallToolResult>;
    });
    return server;
  }

  /** Aborts all tool calls, and resolves when the tasks of these calls have been canceled. */
  async close(): Promise<void> {
    this.#closeController.abort();
    await this.waitForPendingCalls();
  }

  /** Resolves when no tool call is pending. */
  async waitForPendingCalls(): Promise<void> {
    while (this.#pendingCalls.size > 0) await Promise.allSettled(this.#pendingCalls);
  }

  async #callTool(
    server: Server,
    name: string,
    json: unknown,
    context: ServerContext,
  ): Promise<ToolCallResponse> {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk;
    const tool = this.#toolsByName.get(name);
    if (!tool) {
      const message = `The tool ${JSON.stringify(name.slice(0, 100))} does not exist; call tools/list for the available tools.`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    try {
      return await this.#callAgent(tool, json, context, server);
    } catch (error) {
      if (isA2AError(error)) return toCallToolError(error);
      if (!context.mcpReq.signal.aborted) {
        this.#options.observer.onError?.({ where: `the tool ${name}`, error });
      }
      return toCallToolError(A2AError.from(error));
    }
  }

  async #callAgent(
    { skillId, agentId, agent }: AgentTool,
    json: unknown,
    context: ServerContext,
    server: Server,
  ): Promise<ToolCallResponse> {
    const { askUser, waitMs, taskAfterMs } = this.#options;
    const createdAtMs = Date.now();
    const canCreateTask = supportsMcpTasks(this.#sdk, context);
    const { canAskUser, localHeaders, signal } = this.#createTaskCall(server, context);
    const userAnswer = parseElicitationAnswer(this.#sdk, context);
    const request =
      userAnswer === undefined
        ? decodeToolArguments(json)
        : this.#createRequestFromUserAnswer(userAnswer, context);
    const progress = new McpProgressReporter(createProgressNotifier(context));
    const callSignal = AbortSignal.any([signal, this.#closeController.signal]);
    const call = callAgent(agent.client, request, {
      signal: callSignal,
      onEvent: (event) => progress.reportEvent(event),
      waitMs: canCreateTask ? taskAfterMs : waitMs,
      ...(agent.isLocal ? { headers: localHeaders } : {}),
      ...(skillId === undefined ? {} : { metadata: { skillId } }),
    });
    await Promise.allSettled([call]);
    // A host that does not read must not delay the end of an aborted call.
    await untilAborted(progress.waitUntilAllSent(), callSignal).catch(() => {});
    const answer = await call;
    if (canCreateTask && "task" in answer) {
      const reference = { agentId, taskId: answer.task.id, createdAtMs };
      const task = this.taskOperations.toMcpTask(answer.task, reference, canAskUser);
      // The host has canceled the call, and cannot learn the id of the MCP task.
      if (signal.aborted && task.status === "working")
        await cancelUnlessEnded(agent.client, answer.task.id, agent.isLocal ? { headers: localHeaders } : {});
      if (task.status === "working" || task.status === "input_required") return toCreateMcpTaskResult(task);
    }
    const shouldElicit =
      canAskUser && askUser === true && userAnswer !== "refused" && this.#mayAskUser(answer);
    return (
      (shouldElicit ? convertAgentQuestionToElicitation(this.#sdk, answer, agentId) : undefined) ??
      toCallToolResult(answer)
    );
  }

  #mayAskUser(answer: SendMessageResponse): boolean {
    return (
      "task" in answer &&
      answer.task.status.state === "TASK_STATE_INPUT_REQUIRED" &&
      this.taskOperations.questionLimiter.allows(answer.task)
    );
  }

  #createTaskCall(server: Server, context: ServerContext): McpTaskCall {
    const authorization = context.http?.req?.headers.get("authorization");
    return {
      signal: context.mcpReq.signal,
      localHeaders: authorization ? { authorization } : {},
      canAskUser: this.#options.askUser !== false && canElicit(this.#sdk, server, context),
    };
  }

  /**
   * Converts the user's answer to an agent request. If the user refused to answer, the new request only waits
   * for the task, so that the model receives the question.
   */
  #createRequestFromUserAnswer(
    userAnswer: AgentRequestFromToolCall | "refused",
    { mcpReq }: ServerContext,
  ): AgentRequestFromToolCall {
    return userAnswer === "refused" ? { parts: [], taskId: mcpReq.requestState<string>() ?? "" } : userAnswer;
  }
}

const SERVER_INSTRUCTIONS = `Each tool is a skill of an agent. The agent works on a task and may ask questions. When a result's state is \
TASK_STATE_INPUT_REQUIRED, call the same tool again with its taskId and the answer as the message. To continue \
a conversation, pass its contextId.`;

function createAgentTools(agents: ReadonlyMap<string, McpTaskAgent>): Map<string, AgentTool> {
  const tools = new Map<string, AgentTool>();
  const taken = new Set<string>();
  for (const [agentId, agent] of agents) {
    for (const one of createSkillTools(agentId, agent.client.card, taken))
      tools.set(one.tool.name, { ...one, agentId, agent });
  }
  return tools;
}

function createProgressNotifier({ mcpReq }: ServerContext): ProgressNotifier | undefined {
  const progressToken = mcpReq["_meta"]?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
}

/** Key of the user's answer in the elicitation response. */
const ELICITATION_ANSWER_KEY = "answer";

/**
 * Converts an agent's question to an MCP elicitation for the host's user. Returns `undefined` if the question
 * has no text. If a question contains only data, the model receives the question instead of the user.
 */
function convertAgentQuestionToElicitation(
  { inputRequired }: McpServerSdk,
  response: SendMessageResponse,
  agentId: string,
): InputRequiredResult | undefined {
  if (!("task" in response) || response.task.status.state !== "TASK_STATE_INPUT_REQUIRED") return undefined;
  const { id, status } = response.task;
  const question = stripInvisibleAndTruncateText(getText(status.message?.parts ?? []), 4000);
  if (question === "") return undefined;
  return inputRequired({
    inputRequests: {
      [ELICITATION_ANSWER_KEY]: inputRequired.elicit({
        message: formatQuestion(agentId, question),
        requestedSchema: {
          type: "object",
          properties: { [ELICITATION_ANSWER_KEY]: { type: "string", title: "Your answer" } },
          required: [ELICITATION_ANSWER_KEY],
        },
      }),
    },
    // The state needs no protection, because the host can name any task of its caller in the tool arguments.
    requestState: id,
  });
}

/**
 * Converts the user's answer to an elicitation into the next request to the agent. Returns `refused` if the
 * user declined to answer, and `undefined` if the tool call contains no answer.
 */
function parseElicitationAnswer(
  { inputResponse }: McpServerSdk,
  { mcpReq }: ServerContext,
): AgentRequestFromToolCall | "refused" | undefined {
  const taskId = mcpReq.requestState<string>();
  const response = inputResponse(mcpReq.inputResponses, ELICITATION_ANSWER_KEY);
  if (typeof taskId !== "string" || response.kind !== "elicit") return undefined;
  const text = response.content?.[ELICITATION_ANSWER_KEY];
  if (response.action !== "accept" || typeof text !== "string") return "refused";
  return { parts: [{ text }], taskId };
}

/** Sends a progress notification to the host, and resolves when the notification has been written. */
type ProgressNotifier = (progress: number, message: string) => Promise<void>;

/**
 * Maximum number of progress lines that wait for a slow host. If more lines wait, the oldest lines are
 * dropped.
 */
const MAX_PENDING_PROGRESS_LINES = 50;
/** Maximum length of a progress line in characters. If a progress line is longer, only its end is kept. */
const MAX_PROGRESS_LINE_LENGTH = 1000;

/**
 * Reports the agent's status messages and streamed text as the progress of one tool call. The reporter sends
 * one progress notification at a time, and merges the text chunks that arrive in the meantime. Merging
 * prevents a flood of notifications to slow hosts, while fast hosts receive every chunk.
 */
export class McpProgressReporter {
  readonly #notify: ProgressNotifier | undefined;
  readonly #tracker = new ArtifactContentTracker();
  readonly #pendingLines: { text: string; readonly artifactId: string | undefined }[] = [];
  #sentCount = 0;
  #sending: Promise<void> | undefined;

  /** The argument `notify` is `undefined` if the host did not request progress. */
  constructor(notify: ProgressNotifier | undefined) {
    this.#notify = notify;
  }

  reportEvent(event: StreamResponse): void {
    if (!this.#notify) return;
    if ("artifactUpdate" in event) {
      const { parts, isContinuation } = this.#tracker.addUpdate(event.artifactUpdate);
      this.#addLine(getText(parts), event.artifactUpdate.artifact.artifactId, isContinuation);
    }
    // The final status is part of the result.
    else if ("statusUpdate" in event && !isTerminal(event.statusUpdate.status.state))
      this.#addLine(getText(event.statusUpdate.status.message?.parts ?? []));
  }

  /**
   * Waits until all progress notifications are sent. MCP forbids progress notifications after the result of a
   * call.
   */
  async waitUntilAllSent(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  #addLine(text: string, artifactId?: string, isContinuation = false): void {
    if (text === "") return;
    const last = this.#pendingLines.at(-1);
    if (isContinuation && last && last.artifactId === artifactId)
      last.text = truncateStart(last.text + text, MAX_PROGRESS_LINE_LENGTH);
    else this.#pendingLines.push({ text: truncateStart(text, MAX_PROGRESS_LINE_LENGTH), artifactId });
    if (this.#pendingLines.length > MAX_PENDING_PROGRESS_LINES) this.#pendingLines.shift();
    this.#sending ??= this.#sendLines();
  }

  async #sendLines(): Promise<void> {
    try {
      for (let line = this.#pendingLines.shift(); line; line = this.#pendingLines.shift()) {
        await this.#notify?.(++this.#sentCount, line.text);
      }
    } catch {
      // The host has disconnected, so the remaining lines are dropped.
      this.#pendingLines.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }
}

/** Runs `work` in the trace of a tool call, which the host sends in `_meta` (SEP-414). */
function runInTraceOfToolCall<T>(meta: Readonly<Record<string, unknown>> | undefined, work: () => T): T {
  const { traceparent, tracestate } = meta ?? {};
  const context =
    typeof traceparent === "string"
      ? parseTraceContext(traceparent, typeof tracestate === "string" ? tracestate : undefined)
      : undefined;
  return context ? runInTraceScope({ context }, work) : work();
}
