import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { A2AClient } from "../client/index.ts";
import type { Observer } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { isA2AError } from "./is-a2a-error.ts";
import { toElicitation, parseElicitationAnswer } from "./elicitation.ts";
import { callAgent } from "./call-agent.ts";
import { decodeToolArguments, type AgentRequest } from "./tool-arguments.ts";
import { McpProgressReporter, type ProgressNotifier } from "./mcp-progress-reporter.ts";
import { toCallToolError, toCallToolResult } from "./call-tool-result.ts";
import { type SkillTool, type ToolDefinition, createSkillTools } from "./skill-tool.ts";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

/** Options for a `AgentToolServer`. */
interface AgentToolServerOptions {
  /** The name of the MCP server for display in hosts. */
  readonly name: string;
  readonly version: string;
  /**
   * Whether an agent's questions go to the host's user instead of the model, if the host supports MCP
   * elicitation.
   */
  readonly askUser: boolean;
  /** Time in milliseconds after which a tool call returns the unfinished task. */
  readonly waitMs: number | undefined;
  readonly observer: Pick<Observer, "onError">;
}

interface AgentTool extends SkillTool {
  readonly client: A2AClient;
}

/** Serves the tools of several agents, and tracks the pending tool calls. */
export class AgentToolServer {
  readonly tools: readonly ToolDefinition[];
  readonly #sdk: McpServerSdk;
  readonly #options: AgentToolServerOptions;
  readonly #toolsByName = new Map<string, AgentTool>();
  readonly #pendingCalls = new Set<Promise<unknown>>();
  readonly #closeController = new AbortController();

  constructor(
    sdk: McpServerSdk,
    clients: Readonly<Record<string, A2AClient>>,
    options: AgentToolServerOptions,
  ) {
    this.#sdk = sdk;
    this.#options = options;
    const taken = new Set<string>();
    for (const [id, client] of Object.entries(clients)) {
      for (const one of createSkillTools(id, client.card, taken))
        this.#toolsByName.set(one.tool.name, { ...one, client });
    }
    this.tools = [...this.#toolsByName.values()].map(({ tool }) => tool);
  }

  /** Creates an SDK server with its own state for one connection, or for one request over HTTP. */
  createSdkServer(): Server {
    const { name, version } = this.#options;
    const server = new this.#sdk.Server(
      { name, version },
      { capabilities: { tools: {} }, instructions: SERVER_INSTRUCTIONS },
    );
    server.setRequestHandler("tools/list", () => ({ tools: [...this.tools] }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const call = this.#callTool(server, params.name, params.arguments ?? {}, context);
      this.#pendingCalls.add(call);
      return call.finally(() => this.#pendingCalls.delete(call));
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
  ): Promise<CallToolResult | InputRequiredResult> {
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
    { skillId, client }: AgentTool,
    json: unknown,
    context: ServerContext,
    server: Server,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { askUser, waitMs } = this.#options;
    const userAnswer = parseElicitationAnswer(this.#sdk, context);
    const request =
      userAnswer === undefined
        ? decodeToolArguments(json)
        : this.#createRequestFromUserAnswer(userAnswer, context);
    const progress = new McpProgressReporter(createProgressNotifier(context));
    const answer = await callAgent(client, request, {
      signal: AbortSignal.any([context.mcpReq.signal, this.#closeController.signal]),
      onEvent: (event) => progress.reportEvent(event),
      waitMs,
      ...(skillId === undefined ? {} : { metadata: { skillId } }),
    });
    await progress.waitUntilAllSent();
    const shouldElicit = askUser && userAnswer !== "refused" && canElicit(this.#sdk, server, context);
    return (shouldElicit ? toElicitation(this.#sdk, answer) : undefined) ?? toCallToolResult(answer);
  }

  /**
   * Converts the user's answer to an agent request. If the user refused to answer, the request waits for the
   * task, so that the model receives the question.
   */
  #createRequestFromUserAnswer(
    userAnswer: AgentRequest | "refused",
    { mcpReq }: ServerContext,
  ): AgentRequest {
    return userAnswer === "refused" ? { parts: [], taskId: mcpReq.requestState<string>() ?? "" } : userAnswer;
  }
}

const SERVER_INSTRUCTIONS = `Each tool is a skill of an agent. The agent works on a task and may ask questions. When a result's state is \
TASK_STATE_INPUT_REQUIRED, call the same tool again with its taskId and the answer as the message. To continue \
a conversation, pass its contextId.`;

function createProgressNotifier({ mcpReq }: ServerContext): ProgressNotifier | undefined {
  const progressToken = mcpReq["_meta"]?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
}

/**
 * Returns whether the host can ask its user. MCP 2025 hosts declare support for elicitation once. Later hosts
 * declare the support with each request.
 */
function canElicit(
  { CLIENT_CAPABILITIES_META_KEY }: McpServerSdk,
  server: Server,
  { mcpReq }: ServerContext,
): boolean {
  const declared: ClientCapabilities | undefined =
    Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  // In the first version of elicitation, `{}` means forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
