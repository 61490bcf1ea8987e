import {
  createContextIdInNamespace,
  isAgentInScope,
  isContextInScope,
  type Caller,
  type ContextScope,
} from "../engine/index.ts";
import { A2AError, type OperationName, type Operations, type SendMessageRequest } from "../protocol/index.ts";
import type { ServedAgent } from "./served-agent.ts";

interface ContextScopeCheck {
  readonly agent: ServedAgent;
  readonly caller: Caller;
  readonly scope: ContextScope;
}

/** Checks the parameters of an operation, and returns the parameters to use. */
type ContextScopeRule<O extends OperationName> = (
  params: Operations[O]["params"],
  check: ContextScopeCheck,
) => Operations[O]["params"] | Promise<Operations[O]["params"]>;

/** The rule of each operation. `Engine.listTasks` itself selects the tasks of a limited caller. */
const CONTEXT_SCOPE_RULES: { readonly [O in OperationName]: ContextScopeRule<O> } = {
  SendMessage: scopeMessage,
  SendStreamingMessage: scopeMessage,
  GetTask: (params, check) => scopeToTask(params, params.id, check),
  ListTasks: (params) => params,
  CancelTask: (params, check) => scopeToTask(params, params.id, check),
  SubscribeToTask: (params, check) => scopeToTask(params, params.id, check),
  GetExtendedAgentCard: (params) => params,
  CreateTaskPushNotificationConfig: (params, check) => scopeToTask(params, params.taskId, check),
  GetTaskPushNotificationConfig: (params, check) => scopeToTask(params, params.taskId, check),
  ListTaskPushNotificationConfigs: (params, check) => scopeToTask(params, params.taskId, check),
  DeleteTaskPushNotificationConfig: (params, check) => scopeToTask(params, params.taskId, check),
};

/**
 * Limits an operation to the context scope of its caller. Rejects with TASK_NOT_FOUND for tasks in other contexts, as
 * for tasks that do not exist, and with PERMISSION_DENIED for other agents and for messages to other contexts. Resolves
 * with the parameters to use.
 */
export async function enforceContextScope<O extends OperationName>(
  operation: O,
  agent: ServedAgent,
  params: Operations[O]["params"],
  caller: Caller,
  scope: ContextScope,
): Promise<Operations[O]["params"]> {
  if (!isAgentInScope(scope, agent.id))
    throw new A2AError(
      "PERMISSION_DENIED",
      `The credentials are not valid for the agent ${JSON.stringify(agent.id)}; request a token that names this agent.`,
    );
  return await CONTEXT_SCOPE_RULES[operation](params, { agent, caller, scope });
}

async function scopeToTask<P>(params: P, taskId: string, check: ContextScopeCheck): Promise<P> {
  await assertTaskInScope(taskId, check);
  return params;
}

async function assertTaskInScope(taskId: string, { agent, caller, scope }: ContextScopeCheck): Promise<void> {
  const contextId = await agent.engine.findContextId(taskId, caller);
  if (contextId === undefined || !isContextInScope(scope, contextId)) throw A2AError.taskNotFound(taskId);
}

/** A message to a task needs no check of its `contextId`, because the engine compares it with the task. */
async function scopeMessage(
  params: SendMessageRequest,
  check: ContextScopeCheck,
): Promise<SendMessageRequest> {
  const { taskId, contextId, messageId } = params.message;
  const { scope } = check;
  if (taskId) {
    await assertTaskInScope(taskId, check);
    return params;
  }
  if (contextId) {
    if (isContextInScope(scope, contextId)) return params;
    throw createContextDeniedError(
      `for the context ${JSON.stringify(contextId.slice(0, 100))}`,
      "that context",
    );
  }
  if (scope.namespace === undefined)
    throw createContextDeniedError(`for new contexts`, `the "contextId" of the message`);
  const newContextId = createContextIdInNamespace(scope.namespace, messageId);
  return { ...params, message: { ...params.message, contextId: newContextId } };
}

function createContextDeniedError(denied: string, wanted: string): A2AError {
  const text = `The credentials are not valid ${denied}; send a message in an allowed context, or request a token for ${wanted}.`;
  return new A2AError("PERMISSION_DENIED", text);
}
