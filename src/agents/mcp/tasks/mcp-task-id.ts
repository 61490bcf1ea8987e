/** The components of an MCP task id. */
export interface McpTaskReference {
  /** Id of the agent in the record of `createMcpServer`. */
  readonly agentId: string;
  /** Id of the A2A task. */
  readonly taskId: string;
  /** Time of the tool call that created the MCP task, in milliseconds since 1970. */
  readonly createdAtMs: number;
}

/** Latest time that a JavaScript date can represent, in milliseconds since 1970. */
const MAX_DATE_MS = 8.64e15;

/**
 * Formats the id of an MCP task, for example `planner:0199-…:mbx2k1`. After a restart, the server needs only
 * the id to find the A2A task. If several tool calls continue the same A2A task, the time of the tool call
 * distinguishes their ids.
 */
export function formatMcpTaskId({ agentId, taskId, createdAtMs }: McpTaskReference): string {
  return [encodeURIComponent(agentId), encodeURIComponent(taskId), createdAtMs.toString(36)].join(":");
}

/** Parses the id of an MCP task. Returns `undefined` if this server cannot have created the id. */
export function parseMcpTaskId(id: string): McpTaskReference | undefined {
  const [agentId, taskId, time, ...others] = id.split(":");
  if (!agentId || !taskId || !time || others.length > 0 || !/^[0-9a-z]+$/.test(time)) return undefined;
  const createdAtMs = Number.parseInt(time, 36);
  if (createdAtMs > MAX_DATE_MS) return undefined;
  try {
    return { agentId: decodeURIComponent(agentId), taskId: decodeURIComponent(taskId), createdAtMs };
  } catch {
    return undefined;
  }
}
