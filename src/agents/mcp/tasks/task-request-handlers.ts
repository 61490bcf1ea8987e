import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { A2AError } from "../../../protocol/index.ts";
import { supportsMcpTasks, type McpServerSdk } from "../host-capabilities.ts";
import { isA2AError } from "../is-a2a-error.ts";
import { MCP_TASKS_EXTENSION } from "./mcp-task.ts";
import type { McpTaskCall, McpTaskOperations } from "./mcp-task-operations.ts";

/** Dependencies of `createTaskHandlerInstaller`. */
interface TaskHandlerDependencies {
  readonly sdk: McpServerSdk;
  readonly operations: McpTaskOperations;
  /** Collects the data of a host's request that an operation needs. */
  readonly createCall: (server: Server, context: ServerContext) => McpTaskCall;
  /** Reports an error that neither the host nor the agent has caused. */
  readonly onError: (method: string, error: unknown) => void;
}

/**
 * Creates a function that adds the handlers of `tasks/get`, `tasks/update`, and `tasks/cancel` to an SDK
 * server. The SDK has no handlers for the MCP Tasks extension.
 */
export function createTaskHandlerInstaller({
  sdk,
  operations,
  createCall,
  onError,
}: TaskHandlerDependencies): (server: Server) => void {
  const params = sdk.fromJsonSchema<{ taskId: string }>({
    type: "object",
    properties: { taskId: { type: "string" } },
    required: ["taskId"],
  });
  return (server) => {
    const setHandler = (
      method: string,
      perform: (taskId: string, call: McpTaskCall, context: ServerContext) => Promise<object>,
    ): void =>
      server.setRequestHandler(method, { params }, async ({ taskId }, context) => {
        assertTasksDeclared(sdk, context);
        try {
          return { ...(await perform(taskId, createCall(server, context), context)) };
        } catch (error) {
          if (!isA2AError(error) && !context.mcpReq.signal.aborted) onError(method, error);
          throw toProtocolError(sdk, error);
        }
      });
    setHandler("tasks/get", (taskId, call) => operations.get(taskId, call));
    setHandler("tasks/update", async (taskId, call, { mcpReq }) => {
      await operations.update(taskId, mcpReq.inputResponses ?? {}, call);
      return {};
    });
    setHandler("tasks/cancel", async (taskId, call) => {
      await operations.cancel(taskId, call);
      return {};
    });
  };
}

/**
 * Throws an error unless the request declares the MCP Tasks extension. MCP 2025 does not define the
 * extension.
 */
function assertTasksDeclared(sdk: McpServerSdk, context: ServerContext): void {
  if (supportsMcpTasks(sdk, context)) return;
  if (context.mcpReq.envelope === undefined)
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.MethodNotFound, "Method not found");
  throw new sdk.MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [MCP_TASKS_EXTENSION]: {} } },
  });
}

/** Converts an agent's error to a JSON-RPC error with an error code from SEP-2663. */
function toProtocolError({ ProtocolError, ProtocolErrorCode }: McpServerSdk, error: unknown): Error {
  const { reason, message } = isA2AError(error) ? error : A2AError.from(error);
  const isInvalid = reason === "TASK_NOT_FOUND" || reason === "INVALID_PARAMS";
  return new ProtocolError(
    isInvalid ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
    message,
  );
}
