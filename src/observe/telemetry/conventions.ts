import type { AgentCard, Message, OperationName, Task, TaskStatusUpdateEvent } from "../../protocol/index.ts";
import type { SpanAttributes } from "./tracer.ts";

/**
 * Attributes of spans by the semantic conventions of OpenTelemetry for generative AI, MCP, and A2A
 * (open-telemetry/semantic-conventions-genai). The conventions are in development, and the conventions for A2A are a
 * draft (pull request 195).
 */

/** The members of an agent card that spans contain. */
export type CardOfSpan = Pick<AgentCard, "name"> & Partial<Pick<AgentCard, "description" | "version">>;

/** Returns the attributes of an A2A request, for the span of the client and for the span of the server. */
export function buildA2ARequestAttributes(request: {
  readonly operation: OperationName;
  readonly protocolVersion: string;
  readonly card: CardOfSpan | undefined;
  /** The parameters of the operation. */
  readonly params: object;
}): SpanAttributes {
  const { operation, protocolVersion, card, params } = request;
  const { tenant, message, id, taskId } = params as {
    readonly tenant?: string;
    readonly message?: Message;
    readonly id?: string;
    readonly taskId?: string;
  };
  return {
    "a2a.method.name": operation,
    "a2a.protocol.version": protocolVersion,
    "a2a.tenant": tenant === "" ? undefined : tenant,
    "a2a.message.id": message?.messageId,
    "a2a.message.reference_task_ids": message?.referenceTaskIds,
    "a2a.task.id": message ? message.taskId : TASK_ID_OPERATIONS.has(operation) ? id : taskId,
    "gen_ai.conversation.id": message?.contextId,
    ...buildAgentAttributes(card),
  };
}

/** Operations whose parameter `id` is the id of a task. */
const TASK_ID_OPERATIONS: ReadonlySet<OperationName> = new Set(["GetTask", "CancelTask", "SubscribeToTask"]);

/** Returns the attributes of the task in the result of an operation, or in a stream event. */
export function buildA2AResponseAttributes(response: object): SpanAttributes {
  const { task, statusUpdate, id, status } = response as Partial<
    Task & { readonly task: Task; readonly statusUpdate: TaskStatusUpdateEvent }
  >;
  if (task) return buildTaskAttributes(task);
  if (statusUpdate) {
    const { taskId, contextId, status: newStatus } = statusUpdate;
    return {
      "a2a.task.id": taskId,
      "a2a.task.state": newStatus.state,
      "gen_ai.conversation.id": contextId,
    };
  }
  return id !== undefined && status ? buildTaskAttributes(response as Task) : {};
}

function buildTaskAttributes({ id, contextId, status }: Task): SpanAttributes {
  return { "a2a.task.id": id, "a2a.task.state": status.state, "gen_ai.conversation.id": contextId };
}

/** Returns the attributes of an agent, as far as its card is known. */
function buildAgentAttributes(card: CardOfSpan | undefined): SpanAttributes {
  if (!card) return {};
  const { name, description, version } = card;
  return {
    "gen_ai.agent.name": name,
    "gen_ai.agent.description": description === "" ? undefined : description,
    "gen_ai.agent.version": version === "" ? undefined : version,
  };
}

/** Returns the attributes of the span `invoke_agent`, which covers the run of an agent. */
export function buildAgentRunAttributes(run: {
  readonly card: CardOfSpan | undefined;
  readonly taskId: string;
  readonly contextId: string;
  readonly attempt: number;
  readonly parentTaskId: string | undefined;
}): SpanAttributes {
  const { card, taskId, contextId, attempt, parentTaskId } = run;
  return {
    "gen_ai.operation.name": "invoke_agent",
    ...buildAgentAttributes(card),
    "gen_ai.conversation.id": contextId,
    "a2a.task.id": taskId,
    "colloquy.run.attempt": attempt,
    "colloquy.parent_task.id": parentTaskId,
  };
}

/** Returns the attributes of an MCP tool call. */
export function buildMcpToolCallAttributes(tool: string): SpanAttributes {
  return {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
  };
}

/** Returns `server.address` and `server.port` of a URL, or of an address such as `host:port`. */
export function buildServerAddressAttributes(address: string): SpanAttributes {
  const url = URL.parse(address.includes("://") ? address : `http://${address}`);
  if (!url || url.hostname === "") return {};
  const { hostname, port, protocol } = url;
  const defaultPort = protocol === "https:" || protocol === "grpcs:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? defaultPort : Number(port) };
}
