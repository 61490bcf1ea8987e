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

export interface ToolServerOptions {
  /** What hosts show of the server. */
  readonly name: string;
  readonly version: string;
  /** What an agent asks goes to the host's user, where the host can do that, and not to its model. */
  readonly askUser: boolean;
  /** After this long a call gives the task as it is then. */
  readonly waitMs: number | undefined;
  readonly observer: Pick<Observer, "onError">;
}

interface AgentTool extends SkillTool {
  readonly client: A2AClient;
}

/** The tools of several agents, and the calls of them that are under way. */
export class ToolServer {
  readonly tools: readonly ToolDefinition[];
  readonly #sdk: McpServerSdk;
  readonly #options: ToolServerOptions;
  readonly #toolsByName = new Map<string, AgentTool>();
  readonly #pendingCalls = new Set<Promise<unknown>>();
  readonly #closeController = new AbortController();

  constructor(sdk: McpServerSdk, remotes: Readonly<Record<string, A2AClient>>, options: ToolServerOptions) {
    this.#sdk = sdk;
    this.#options = options;
    const taken = new Set<string>();
    for (const [id, remote] of Object.entries(remotes)) {
      for (const one of createSkillTools(id, remote.card, taken))
        this.#toolsByName.set(one.tool.name, { ...one, client: remote });
    }
    this.tools = [...this.#toolsByName.values()].map(({ tool }) => tool);
  }

  /** One for each connection, and over HTTP for each request: the SDK's server objects have state of their own. */
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

  /** Gives up all calls; resolves when their tasks have been cancelled. */
  async close(): Promise<void> {
    this.#closeController.abort();
    await this.waitForCalls();
  }

  /** Resolves when no call is under way. */
  async waitForCalls(): Promise<void> {
    while (this.#pendingCalls.size > 0) await Promise.allSettled(this.#pendingCalls);
  }

  async #callTool(
    server: Server,
    name: string,
    given: unknown,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk;
    const offer = this.#toolsByName.get(name);
    if (!offer) {
      const message = `There is no tool ${JSON.stringify(name.slice(0, 100))}; tools/list has those that there are.`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    try {
      return await this.#callAgent(offer, given, context, server);
    } catch (error) {
      if (isA2AError(error)) return toCallToolError(error);
      if (!context.mcpReq.signal.aborted) {
        this.#options.observer.onError?.({ where: `the tool ${name}`, error });
      }
      return toCallToolError(A2AError.from(error));
    }
  }

  async #callAgent(
    { skillId, client: remote }: AgentTool,
    given: unknown,
    context: ServerContext,
    server: Server,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { askUser, waitMs } = this.#options;
    const answered = parseElicitationAnswer(this.#sdk, context);
    const said =
      answered === undefined ? decodeToolArguments(given) : this.#toAgentRequest(answered, context);
    const progress = new McpProgressReporter(createProgressNotifier(context));
    const answer = await callAgent(remote, said, {
      signal: AbortSignal.any([context.mcpReq.signal, this.#closeController.signal]),
      onEvent: (event) => progress.reportEvent(event),
      waitMs,
      ...(skillId === undefined ? {} : { metadata: { skillId } }),
    });
    await progress.flush();
    const asks = askUser && answered !== "refused" && canElicit(this.#sdk, server, context);
    return (asks ? toElicitation(this.#sdk, answer) : undefined) ?? toCallToolResult(answer);
  }

  /** A user who will not answer leaves the question to the model. */
  #toAgentRequest(answered: AgentRequest | "refused", { mcpReq }: ServerContext): AgentRequest {
    return answered === "refused" ? { parts: [], taskId: mcpReq.requestState<string>() ?? "" } : answered;
  }
}

const SERVER_INSTRUCTIONS = `Each tool is a skill of an agent, which works on a task and may ask back. When a result's state is \
TASK_STATE_INPUT_REQUIRED, call the same tool again with its taskId and the answer as the message. To stay in a \
conversation, pass on its contextId.`;

function createProgressNotifier({ mcpReq }: ServerContext): ProgressNotifier | undefined {
  const progressToken = mcpReq["_meta"]?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
}

/** Whether the host puts questions to its user; it says so once in MCP of 2025, and with each request since. */
function canElicit(
  { CLIENT_CAPABILITIES_META_KEY }: McpServerSdk,
  server: Server,
  { mcpReq }: ServerContext,
): boolean {
  const declared: ClientCapabilities | undefined =
    Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  // Of the first days: `{}` means forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
