import {
  createPushNotSupportedError,
  createSingleEventSubscription,
  type Caller,
  type Engine,
  type ServiceParameters,
  type PushConfigOperations,
  type Subscription,
  createContextIdInNamespace,
  isAgentInScope,
  isContextInScope,
  type ContextScope,
} from "../engine/index.ts";
import {
  A2AError,
  LogEvent,
  type GetTaskPushNotificationConfigRequest,
  type OperationName,
  type Operations,
  type SubscribeToTaskRequest,
  type TaskPushNotificationConfig,
  type SendMessageRequest,
} from "../protocol/index.ts";
import type { RequestMetadata } from "./http-exchange.ts";
import type { OperationResultOrStream } from "./instrument/operation-watch.ts";
import { reserveTaskResponse } from "./result-reply.ts";
import type { ServedAgent } from "./served-agent.ts";

type OperationFunction<O extends OperationName> = (
  agent: ServedAgent,
  params: Operations[O]["params"],
  caller: Caller,
  service: ServiceParameters,
  request: RequestMetadata,
) => Promise<OperationResultOrStream<O>>;

/**
 * Returns the push configuration operations of an agent. Throws an error if push notifications are disabled.
 */
function requirePushConfigOperations({ engine }: ServedAgent): PushConfigOperations {
  if (!engine.pushConfigs) throw createPushNotSupportedError();
  return engine.pushConfigs;
}

/** The functions that implement the A2A operations (A2A §3.1), for all protocol bindings and A2A versions. */
const OPERATION_FUNCTIONS: { readonly [O in OperationName]: OperationFunction<O> } = {
  SendMessage: async ({ engine }, params, caller, service, request) => {
    const result = await engine.sendMessage(params, caller, service, request);
    if (!("task" in result)) return { result };
    return { result, size: reserveTaskResponse(request.byteAccount, result.task) };
  },
  SendStreamingMessage: async ({ engine }, params, caller, service) => ({
    stream: await engine.sendStreamingMessage(params, caller, service),
  }),
  GetTask: async ({ engine }, params, caller, _service, { byteAccount }) => {
    byteAccount?.assertRoomForKnownTask(params.id);
    const { task, seq } = await engine.getTaskWithSeq(params, caller);
    return { result: task, seq, size: reserveTaskResponse(byteAccount, task) };
  },
  ListTasks: async ({ engine }, params, caller) => ({ result: await engine.listTasks(params, caller) }),
  CancelTask: async ({ engine }, params, caller, _service, { byteAccount }) => {
    const task = await engine.cancelTask(params, caller);
    return { result: task, size: reserveTaskResponse(byteAccount, task) };
  },
  SubscribeToTask: async ({ engine }, params, caller, service) => ({
    stream: await subscribeToTask(engine, params, caller, service),
  }),
  GetExtendedAgentCard: async ({ cardPublisher }, _params, caller, _service, request) => ({
    result: await cardPublisher.buildExtendedCard(caller, request.origin),
  }),
  CreateTaskPushNotificationConfig: async (agent, params, caller, service) => ({
    result: await requirePushConfigOperations(agent).create(params, caller, service),
  }),
  GetTaskPushNotificationConfig: async (agent, params, caller) => ({
    result: await getPushConfig(requirePushConfigOperations(agent), params, caller),
  }),
  ListTaskPushNotificationConfigs: async (agent, params, caller) => ({
    result: await requirePushConfigOperations(agent).list(params, caller),
  }),
  DeleteTaskPushNotificationConfig: async (agent, params, caller) => ({
    result: await requirePushConfigOperations(agent).delete(params, caller),
  }),
};

/**
 * Subscribes to a task. If the task has ended, A2A 1.0 requires an error, and A2A 0.3 requires a stream that
 * contains only the task.
 */
async function subscribeToTask(
  engine: Engine,
  params: SubscribeToTaskRequest,
  caller: Caller,
  service: ServiceParameters,
): Promise<Subscription> {
  try {
    return await engine.subscribeToTask(params, caller, service);
  } catch (error) {
    const isOver = error instanceof A2AError && error.reason === "UNSUPPORTED_OPERATION";
    if (!isOver || service.version !== "0.3") throw error;
    return createSingleEventSubscription(LogEvent.create(0, { task: await engine.getTask(params, caller) }));
  }
}

/**
 * Returns a push configuration of a task. If an A2A 0.3 request contains no configuration id, returns the
 * first configuration.
 */
async function getPushConfig(
  webhooks: PushConfigOperations,
  params: GetTaskPushNotificationConfigRequest,
  caller: Caller,
): Promise<TaskPushNotificationConfig> {
  if (params.id !== "") return await webhooks.get(params, caller);
  const { configs } = await webhooks.list({ taskId: params.taskId, pageSize: 1 }, caller);
  return configs[0] ?? (await webhooks.get(params, caller));
}

/** Performs an A2A operation for a caller, with the decoded parameters of the operation. */
export type OperationPerformer = <O extends OperationName>(
  operation: O,
  ...args: Parameters<OperationFunction<O>>
) => Promise<OperationResultOrStream<O>>;

/** Returns a function that performs operations, on a server that accepts every tenant or checks tenants. */
export function composePerformOperation(
  assertTenantServed: TenantAcceptanceCheck | undefined,
): OperationPerformer {
  if (!assertTenantServed)
    return (operation, agent, params, caller, service, request) =>
      performInScope(operation, agent, params, scopeCallerToTenant(caller, params.tenant), service, request);
  return async (operation, agent, params, caller, service, request) => {
    const scopedCaller = scopeCallerToTenant(caller, params.tenant);
    await assertTenantServed(scopedCaller);
    return await performInScope(operation, agent, params, scopedCaller, service, request);
  };
}

function performInScope<O extends OperationName>(
  operation: O,
  ...[agent, params, caller, service, request]: Parameters<OperationFunction<O>>
): Promise<OperationResultOrStream<O>> {
  const perform = OPERATION_FUNCTIONS[operation];
  const { contextScope } = caller;
  if (!contextScope) return perform(agent, params, caller, service, request);
  return enforceContextScope(operation, agent, params, caller, contextScope).then((checked) =>
    perform(agent, checked, caller, service, request),
  );
}

/**
 * Returns the caller with the tenant of the request. Throws PERMISSION_DENIED if authentication has assigned
 * another tenant to the caller (E13), or has limited the caller to contexts.
 */
function scopeCallerToTenant(caller: Caller, tenant: string = caller.tenant): Caller {
  if (caller.tenant === tenant) return caller;
  // The contexts of a limited caller are contexts of one tenant.
  if (caller.tenant === "" && !caller.contextScope) return { ...caller, tenant, choseTenant: true };
  const text = `The credentials are not valid for the tenant ${JSON.stringify(tenant.slice(0, 80))}; omit "tenant".`;
  throw new A2AError("PERMISSION_DENIED", text);
}

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
async function enforceContextScope<O extends OperationName>(
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

/**
 * The tenants that the server accepts. The value is a list of tenant names, or a function that decides
 * whether a caller can use a tenant. The empty tenant name represents requests without a tenant.
 */
export type TenantsOption =
  | readonly string[]
  | ((tenant: string, caller: Caller) => boolean | Promise<boolean>);

/**
 * Rejects with NOT_FOUND if the server does not accept the caller's tenant (K-02). A2A §13.1 requires only
 * the isolation of tenants.
 */
export type TenantAcceptanceCheck = (caller: Caller) => Promise<void>;

export function createTenantAcceptanceCheck(tenants: TenantsOption): TenantAcceptanceCheck {
  const names = typeof tenants === "function" ? undefined : new Set(tenants);
  return async (caller) => {
    const { tenant } = caller;
    const isServed = typeof tenants === "function" ? await tenants(tenant, caller) : names?.has(tenant);
    if (isServed !== true) throw createUnknownTenantError(tenant);
  };
}

/**
 * Returns the only tenant that the server accepts. Returns `undefined` if the server accepts several tenants.
 * An agent card must not reveal the tenants of other callers.
 */
export function findOnlyTenantAcceptedByServer(tenants: TenantsOption | undefined): string | undefined {
  return typeof tenants === "object" && tenants.length === 1 ? tenants[0] : undefined;
}

function createUnknownTenantError(tenant: string): A2AError {
  const text =
    tenant === ""
      ? `This agent requires a tenant; send it in "tenant" or as the first part of the path. A2A 0.3 supports neither: send credentials that belong to a tenant.`
      : `This server has no tenant ${JSON.stringify(tenant.slice(0, 80))}; check the name with the operator of the server.`;
  return new A2AError("NOT_FOUND", text);
}
