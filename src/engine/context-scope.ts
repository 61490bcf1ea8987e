import { computeSha256Hex } from "../data-structures/index.ts";

/**
 * Limits a caller to some of the caller's contexts. Tasks in other contexts do not exist for the limited caller. A
 * context is accessible if `contextIds` contains its id, or if the id belongs to `namespace`.
 */
export interface ContextScope {
  /** Ids of accessible contexts. A context need not exist, because the first message starts it. */
  readonly contextIds: readonly string[];
  /**
   * Namespace in which the caller may start contexts. The ids of these contexts begin with the namespace and a dot. By
   * default, the caller starts no contexts, except those in `contextIds`.
   */
  readonly namespace?: string;
  /** Ids of the agents that the caller may use. Default: all agents. */
  readonly agentIds?: readonly string[];
}

/** Returns true if a limited caller may access a context. */
export function isContextInScope({ contextIds, namespace }: ContextScope, contextId: string): boolean {
  return contextIds.includes(contextId) || (namespace !== undefined && contextId.startsWith(`${namespace}.`));
}

export function isAgentInScope({ agentIds }: ContextScope, agentId: string): boolean {
  return agentIds === undefined || agentIds.includes(agentId);
}

/**
 * Returns the id of the context that a message without a context starts. A repeated message has the same context, so
 * that the engine recognizes it.
 */
export function createContextIdInNamespace(namespace: string, messageId: string): string {
  return `${namespace}.${computeSha256Hex(messageId).slice(0, 32)}`;
}

/**
 * Returns the contexts that a task list of a limited caller contains. Without a requested context, the list contains
 * the contexts that the scope names, because a namespace can contain any number of contexts.
 */
export function selectListedContextIds(
  scope: ContextScope,
  requestedContextId: string | undefined,
): readonly string[] {
  if (!requestedContextId) return [...new Set(scope.contextIds)];
  return isContextInScope(scope, requestedContextId) ? [requestedContextId] : [];
}
