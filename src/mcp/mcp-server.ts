import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { Remote } from "../client/index.ts";
import type { Observer } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { isA2AError } from "./a2a-error.ts";
import { questionFor, userAnswer } from "./ask-user.ts";
import { converse } from "./converse.ts";
import { decodeArguments, type Said } from "./input.ts";
import { Progress, type Tell } from "./progress.ts";
import { toErrorResult, toResult } from "./result.ts";
import { type SkillTool, type Tool, toolsOf } from "./tool.ts";

type Sdk = typeof import("@modelcontextprotocol/server");

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

interface Offer extends SkillTool {
  readonly remote: Remote;
}

/** The tools of several agents, and the calls of them that are under way. */
export class ToolServer {
  readonly tools: readonly Tool[];
  readonly #sdk: Sdk;
  readonly #options: ToolServerOptions;
  readonly #offers = new Map<string, Offer>();
  readonly #calls = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(sdk: Sdk, remotes: Readonly<Record<string, Remote>>, options: ToolServerOptions) {
    this.#sdk = sdk;
    this.#options = options;
    const taken = new Set<string>();
    for (const [id, remote] of Object.entries(remotes)) {
      for (const one of toolsOf(id, remote.card, taken)) this.#offers.set(one.tool.name, { ...one, remote });
    }
    this.tools = [...this.#offers.values()].map(({ tool }) => tool);
  }

  /** One for each connection, and over HTTP for each request: the SDK's server objects have state of their own. */
  instance(): Server {
    const { name, version } = this.#options;
    const server = new this.#sdk.Server(
      { name, version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler("tools/list", () => ({ tools: [...this.tools] }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const call = this.#call(server, params.name, params.arguments ?? {}, context);
      this.#calls.add(call);
      return call.finally(() => this.#calls.delete(call));
    });
    return server;
  }

  /** Gives up all calls; resolves when their tasks have been cancelled. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  /** Resolves when no call is under way. */
  async settled(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }

  async #call(
    server: Server,
    name: string,
    given: unknown,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk;
    const offer = this.#offers.get(name);
    if (!offer) {
      const message = `There is no tool ${JSON.stringify(name.slice(0, 100))}; tools/list has those that there are.`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    try {
      return await this.#converse(offer, given, context, server);
    } catch (error) {
      if (isA2AError(error)) return toErrorResult(error);
      if (!context.mcpReq.signal.aborted) {
        this.#options.observer.onError?.({ where: `the tool ${name}`, error });
      }
      return toErrorResult(A2AError.from(error));
    }
  }

  async #converse(
    { skillId, remote }: Offer,
    given: unknown,
    context: ServerContext,
    server: Server,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { askUser, waitMs } = this.#options;
    const answered = userAnswer(this.#sdk, context);
    const said = answered === undefined ? decodeArguments(given) : this.#answer(answered, context);
    const progress = new Progress(tellOf(context));
    const answer = await converse(remote, said, {
      signal: AbortSignal.any([context.mcpReq.signal, this.#closing.signal]),
      see: (event) => progress.see(event),
      waitMs,
      ...(skillId === undefined ? {} : { metadata: { skillId } }),
    });
    await progress.flush();
    const asks = askUser && answered !== "refused" && canAsk(this.#sdk, server, context);
    return (asks ? questionFor(this.#sdk, answer) : undefined) ?? toResult(answer);
  }

  /** A user who will not answer leaves the question to the model. */
  #answer(answered: Said | "refused", { mcpReq }: ServerContext): Said {
    return answered === "refused" ? { parts: [], taskId: mcpReq.requestState<string>() ?? "" } : answered;
  }
}

const INSTRUCTIONS = `Each tool is a skill of an agent, which works on a task and may ask back. When a result's state is \
TASK_STATE_INPUT_REQUIRED, call the same tool again with its taskId and the answer as the message. To stay in a \
conversation, pass on its contextId.`;

function tellOf({ mcpReq }: ServerContext): Tell | undefined {
  const progressToken = mcpReq["_meta"]?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress, message) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
}

/** Whether the host puts questions to its user; it says so once in MCP of 2025, and with each request since. */
function canAsk({ CLIENT_CAPABILITIES_META_KEY }: Sdk, server: Server, { mcpReq }: ServerContext): boolean {
  const declared: ClientCapabilities | undefined =
    Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  // Of the first days: `{}` means forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
