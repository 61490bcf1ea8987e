import {
  createPushNotSupportedError,
  createSingleEventSubscription,
  type Caller,
  type Engine,
  type ServiceParameters,
  type PushConfigOperations,
  type Subscription,
} from "../engine/index.ts";
import {
  A2AError,
  LogEvent,
  type GetTaskPushNotificationConfigRequest,
  type OperationName,
  type Operations,
  type SubscribeToTaskRequest,
  type TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { TenantAcceptanceCheck } from "./accepted-tenants.ts";
import { enforceContextScope } from "./enforce-context-scope.ts";
import type { RequestMetadata } from "./http-exchange.ts";
import type { OperationResultOrStream } from "./operation-outcome.ts";
import { reserveTaskResponse } from "./response-reservation.ts";
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
  SendMessage: async ({ engine }, params, caller, service, { byteAccount }) => {
    const result = await engine.sendMessage(params, caller, service);
    return "task" in result ? { result, size: reserveTaskResponse(byteAccount, result.task) } : { result };
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
