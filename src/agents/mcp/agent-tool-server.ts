import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { Observer } from "../../engine/index.ts";
import { A2AError, type SendMessageResponse } from "../../protocol/index.ts";
import { isA2AError } from "./is-a2a-error.ts";
import { convertAgentQuestionToElicitation, parseElicitationAnswer } from "./elicitation.ts";
import { callAgent } from "./call-agent.ts";
import { decodeToolArguments, type AgentRequestFromToolCall } from "./tool-arguments.ts";
import { McpProgressReporter, type ProgressNotifier } from "./mcp-progress-reporter.ts";
import { toCallToolError, toCallToolResult } from "./call-tool-result.ts";
import { runInTraceOfToolCall } from "./run-in-trace-of-tool-call.ts";
import { type SkillTool, type ToolDefinition, createSkillTools } from "./skill-tool.ts";
import { canElicit, supportsMcpTasks } from "./host-capabilities.ts";
import { type CreateMcpTaskResult, MCP_TASKS_EXTENSION } from "./tasks/mcp-task.ts";
import {
  cancelUnlessEnded,
  type McpTaskAgent,
  type McpTaskCall,
  McpTaskOperations,
} from "./tasks/mcp-task-operations.ts";
import { createTaskHandlerInstaller } from "./tasks/task-request-handlers.ts";
import { toCreateMcpTaskResult } from "./tasks/to-mcp-task.ts";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

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
    const answer = await callAgent(agent.client, request, {
      signal: AbortSignal.any([signal, this.#closeController.signal]),
      onEvent: (event) => progress.reportEvent(event),
      waitMs: canCreateTask ? taskAfterMs : waitMs,
      ...(agent.isLocal ? { headers: localHeaders } : {}),
      ...(skillId === undefined ? {} : { metadata: { skillId } }),
    });
    await progress.waitUntilAllSent();
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
