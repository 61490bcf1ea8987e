import type { ClientCapabilities, Server, ServerContext } from "@modelcontextprotocol/server";
import { MCP_TASKS_EXTENSION } from "./tasks/mcp-task.ts";

export type McpServerSdk = typeof import("@modelcontextprotocol/server");

/**
 * Returns whether the host can ask its user a question. MCP 2025 hosts declare support for elicitation once
 * per connection. Hosts of later MCP versions declare support for elicitation in each request.
 */
export function canElicit(sdk: McpServerSdk, server: Server, context: ServerContext): boolean {
  return declaresElicitation(readRequestCapabilities(sdk, context) ?? server.getClientCapabilities());
}

/** Returns whether the host's capabilities include elicitation with forms. */
export function declaresElicitation(declared: Pick<ClientCapabilities, "elicitation"> | undefined): boolean {
  const elicitation = declared?.elicitation;
  // In the first version of elicitation, `{}` means forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/**
 * Returns whether the request declares the MCP Tasks extension. Each request must declare the extension
 * itself (SEP-2663, capability negotiation), so MCP 2025 hosts cannot use MCP Tasks.
 */
export function supportsMcpTasks(sdk: McpServerSdk, context: ServerContext): boolean {
  return readRequestCapabilities(sdk, context)?.extensions?.[MCP_TASKS_EXTENSION] !== undefined;
}

function readRequestCapabilities(
  { CLIENT_CAPABILITIES_META_KEY }: McpServerSdk,
  { mcpReq }: ServerContext,
): ClientCapabilities | undefined {
  return Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
}
