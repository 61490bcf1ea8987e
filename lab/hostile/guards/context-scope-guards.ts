import type { Guard } from "./guard.ts";

const noticedBy = { test: "src/server/context-scope.test.ts" } as const;

/** Guards of callers that are limited to contexts. */
export const CONTEXT_SCOPE_GUARDS: readonly Guard[] = [
  {
    name: "context-scope",
    file: "src/server/perform-operation.ts",
    find: "if (!contextScope) return perform",
    replace: "if (!contextScope || params !== undefined) return perform",
    noticedBy,
  },
  {
    name: "context-scope-of-tasks",
    file: "src/server/perform-operation.ts",
    find: "contextId === undefined || !isContextInScope(scope, contextId)",
    replace: "contextId === undefined",
    noticedBy,
  },
  {
    name: "context-scope-of-messages",
    file: "src/server/perform-operation.ts",
    find: "if (isContextInScope(scope, contextId)) return params;",
    replace: "return params;",
    noticedBy,
  },
  {
    name: "context-scope-of-agents",
    file: "src/server/perform-operation.ts",
    find: "if (!isAgentInScope(scope, agent.id))",
    replace: "if (!isAgentInScope(scope, agent.id) && agent.id === '')",
    noticedBy,
  },
  {
    name: "context-scope-of-lists",
    file: "src/engine/engine.ts",
    find: "contextScope && selectListedContextIds(contextScope, request.contextId)",
    replace: "contextScope && undefined",
    noticedBy,
  },
  {
    name: "context-scope-of-references",
    file: "src/engine/agent-run.ts",
    find: "task && mayRead(this.caller.contextScope, task)",
    replace: "task",
    noticedBy,
  },
  {
    name: "context-namespace-separator",
    file: "src/engine/caller.ts",
    find: "contextId.startsWith(`${namespace}.`)",
    replace: "contextId.startsWith(namespace)",
    noticedBy,
  },
  {
    name: "context-scope-of-tenants",
    file: "src/server/perform-operation.ts",
    find: `caller.tenant === "" && !caller.contextScope`,
    replace: `caller.tenant === ""`,
    noticedBy,
  },
  {
    name: "context-scope-of-task-logs",
    file: "src/server/mounted-handler.ts",
    find: "if (!contextScope) return access;",
    replace: "if (!contextScope || access) return access;",
    noticedBy,
  },
  {
    name: "context-scope-after-restart",
    file: "src/engine/turn-restart-data.ts",
    find: "...(contextScope ? { contextScope } : {}),",
    replace: "",
    noticedBy: { test: "src/engine/referenced-tasks.test.ts" },
  },
];
