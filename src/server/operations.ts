import {
  createPushNotSupportedError,
  createSingleEventSubscription,
  type Caller,
  type Engine,
  type ServiceParameters,
  type Subscription,
  type PushConfigOperations,
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
import type { RequestHead } from "./bindings/request-pipeline.ts";
import type { ServedAgent } from "./served-agent.ts";

/** What an operation answers: its result, or a stream of events. */
export type OperationOutcome<O extends OperationName = OperationName> =
  | { readonly result: Operations[O]["result"] }
  | { readonly stream: Subscription };

type OperationFunction<O extends OperationName> = (
  agent: ServedAgent,
  params: Operations[O]["params"],
  caller: Caller,
  service: ServiceParameters,
  asked: RequestHead,
) => Promise<OperationOutcome<O>>;

/** What keeps the agent's webhooks. */
function requireWebhooks({ engine }: ServedAgent): PushConfigOperations {
  if (!engine.pushConfigs) throw createPushNotSupportedError();
  return engine.pushConfigs;
}

/** Every operation that is served (A2A §3.1), the same for all bindings and versions. */
const OPERATION_FUNCTIONS: { readonly [O in OperationName]: OperationFunction<O> } = {
  SendMessage: async ({ engine }, params, caller, service) => ({
    result: await engine.sendMessage(params, caller, service),
  }),
  SendStreamingMessage: async ({ engine }, params, caller, service) => ({
    stream: await engine.sendStreamingMessage(params, caller, service),
  }),
  GetTask: async ({ engine }, params, caller) => ({ result: await engine.getTask(params, caller) }),
  ListTasks: async ({ engine }, params, caller) => ({ result: await engine.listTasks(params, caller) }),
  CancelTask: async ({ engine }, params, caller) => ({ result: await engine.cancelTask(params, caller) }),
  SubscribeToTask: async ({ engine }, params, caller, service) => ({
    stream: await subscribeToTask(engine, params, caller, service),
  }),
  GetExtendedAgentCard: async ({ cardPublisher: card }, _params, caller, _service, asked) => ({
    result: await card.buildExtendedCard(caller, asked.origin),
  }),
  CreateTaskPushNotificationConfig: async (agent, params, caller, service) => ({
    result: await requireWebhooks(agent).create(params, caller, service),
  }),
  GetTaskPushNotificationConfig: async (agent, params, caller) => ({
    result: await getPushConfig(requireWebhooks(agent), params, caller),
  }),
  ListTaskPushNotificationConfigs: async (agent, params, caller) => ({
    result: await requireWebhooks(agent).list(params, caller),
  }),
  DeleteTaskPushNotificationConfig: async (agent, params, caller) => ({
    result: await requireWebhooks(agent).delete(params, caller),
  }),
};

/** A task that has ended can be followed no more: 1.0 refuses, 0.3 answers with the task alone. */
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

/** Without an id, as only 0.3 can ask, the task's first configuration. */
async function getPushConfig(
  webhooks: PushConfigOperations,
  params: GetTaskPushNotificationConfigRequest,
  caller: Caller,
): Promise<TaskPushNotificationConfig> {
  if (params.id !== "") return await webhooks.get(params, caller);
  const { configs } = await webhooks.list({ taskId: params.taskId, pageSize: 1 }, caller);
  return configs[0] ?? (await webhooks.get(params, caller));
}

/** Performs an operation for a caller; `params` must have been decoded for that operation. */
export function performOperation<O extends OperationName>(
  operation: O,
  agent: ServedAgent,
  params: Operations[O]["params"],
  caller: Caller,
  service: ServiceParameters,
  asked: RequestHead,
): Promise<OperationOutcome<O>> {
  const within = scopeCallerToTenant(caller, params.tenant);
  const call = (): Promise<OperationOutcome<O>> =>
    OPERATION_FUNCTIONS[operation](agent, params, within, service, asked);
  return agent.assertTenantServed ? agent.assertTenantServed(within).then(call) : call();
}

/** The caller in the tenant that the request names. Whom authentication has put into a tenant gets into no other (E13). */
function scopeCallerToTenant(caller: Caller, tenant: string = caller.tenant): Caller {
  if (caller.tenant === tenant) return caller;
  if (caller.tenant === "") return { ...caller, tenant, choseTenant: true };
  const text = `Your credentials are not for the tenant ${JSON.stringify(tenant.slice(0, 80))}; leave "tenant" out.`;
  throw new A2AError("PERMISSION_DENIED", text);
}
