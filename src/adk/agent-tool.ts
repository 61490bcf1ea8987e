/**
 * An ADK tool that runs an agent. ADK runs the wrapped agent as an app with the agent's name, in a session
 * with the caller's session id.
 */
interface AgentToolLike {
  readonly agent: { readonly name: string };
}

export function isAgentTool(tool: unknown): tool is AgentToolLike {
  const { agent } = (tool ?? {}) as { agent?: { name?: unknown } };
  return typeof agent?.name === "string";
}
