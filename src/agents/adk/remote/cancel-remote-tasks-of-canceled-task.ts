import type { Task } from "../../../protocol/index.ts";
import { type AgentToolLike, isAgentTool } from "../is-agent-tool.ts";
import type { AdkEvent, AdkRunner, SessionKey } from "../adk-structural-types.ts";
import {
  LOCAL_TASK_ID_METADATA_KEY,
  PEER_TASK_ID_METADATA_KEY,
  getCustomMetadataText,
} from "./event-custom-metadata.ts";

/** ADK session members that are needed to find pending remote tasks. */
interface SessionLike {
  readonly userId?: string;
  readonly events?: readonly AdkEvent[];
}

/** A local agent that represents a remote agent. */
export interface RemoteAgentProxy {
  readonly name: string;
  cancelRemoteTask(taskId: string, session: SessionLike): Promise<void>;
}

/** Cancels the waiting remote tasks that belong to a canceled local task. */
export async function cancelRemoteTasksOfCanceledTask(
  { agent, sessionService }: AdkRunner,
  sessionKey: SessionKey,
  { id }: Task,
): Promise<void> {
  const apps = collectRemoteProxies(agent, sessionKey.appName);
  await Promise.all(
    [...apps].map(async ([appName, proxies]) => {
      if (proxies.size === 0) return;
      const session: SessionLike = (await sessionService.getSession({ ...sessionKey, appName })) ?? {};
      const pending = findPendingRemoteTasks(id, session, proxies);
      await Promise.all([...pending].map(([taskId, proxy]) => proxy.cancelRemoteTask(taskId, session)));
    }),
  );
}

/**
 * Returns the ids of pending remote tasks, together with their local agents. The result excludes a remote
 * task if its latest question belongs to another local task.
 */
function findPendingRemoteTasks(
  localTaskId: string,
  { events = [] }: SessionLike,
  proxies: ReadonlyMap<string, RemoteAgentProxy>,
): Map<string, RemoteAgentProxy> {
  const pending = new Map<string, RemoteAgentProxy>();
  for (const event of events) {
    const proxy = proxies.get(event.author ?? "");
    const taskId = getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, event);
    if (!proxy || taskId === undefined) continue;
    if (getCustomMetadataText(LOCAL_TASK_ID_METADATA_KEY, event) === localTaskId) pending.set(taskId, proxy);
    else pending.delete(taskId);
  }
  return pending;
}

/** Returns all agent tools in an agent tree that run a remote agent. */
export function listRemoteAgentTools(root: object): (AgentToolLike & { readonly agent: RemoteAgentProxy })[] {
  const tools: (AgentToolLike & { readonly agent: RemoteAgentProxy })[] = [];
  const seen = new Set<object>();
  const walk = (node: object): void => {
    if (seen.has(node)) return;
    seen.add(node);
    const { subAgents = [], graph, tools: nodeTools = [] }: AgentTreeNode = node;
    for (const child of [...subAgents, ...(graph?.nodes ?? [])]) walk(child);
    for (const tool of nodeTools) {
      if (!isAgentTool(tool)) continue;
      const { agent } = tool;
      if (isRemoteAgentProxy(agent)) tools.push(Object.assign(tool, { agent }));
      else walk(agent);
    }
  };
  walk(root);
  return tools;
}

interface AgentTreeNode {
  readonly subAgents?: readonly object[];
  readonly graph?: { readonly nodes?: readonly object[] };
  readonly tools?: readonly unknown[];
}

/**
 * Finds all remote agents among the sub-agents, workflow nodes, and agent tools of an agent. Returns the
 * remote agents by app name and agent name. ADK runs an agent tool as a separate app with separate
 * sessions.
 */
function collectRemoteProxies(root: object, appName: string): Map<string, Map<string, RemoteAgentProxy>> {
  const apps = new Map<string, Map<string, RemoteAgentProxy>>();
  const walkApp = (agent: object, name: string): void => {
    if (apps.has(name)) return;
    const proxies = new Map<string, RemoteAgentProxy>();
    apps.set(name, proxies);
    const seen = new Set<object>();
    const walk = (node: object): void => {
      if (seen.has(node)) return;
      seen.add(node);
      if (isRemoteAgentProxy(node)) proxies.set(node.name, node);
      const { subAgents = [], graph, tools = [] }: AgentTreeNode = node;
      for (const child of [...subAgents, ...(graph?.nodes ?? [])]) walk(child);
      for (const tool of tools) if (isAgentTool(tool)) walkApp(tool.agent, tool.agent.name);
    };
    walk(agent);
  };
  walkApp(root, appName);
  return apps;
}

export function isRemoteAgentProxy(agent: object): agent is RemoteAgentProxy {
  return "cancelRemoteTask" in agent && typeof agent.cancelRemoteTask === "function";
}
