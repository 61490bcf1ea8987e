import {
  pushNotSupported,
  streamOf,
  type Caller,
  type Engine,
  type ServiceParameters,
  type Subscription,
  type Webhooks,
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
import type { Asked } from "./bindings/binding.ts";
import type { ServedAgent } from "./served-agent.ts";

/** What an operation answers: its result, or a stream of events. */
export type Outcome<O extends OperationName = OperationName> =
  | { readonly result: Operations[O]["result"] }
  | { readonly stream: Subscription };

type Call<O extends OperationName> = (
  agent: ServedAgent,
  params: Operations[O]["params"],
  caller: Caller,
  service: ServiceParameters,
  asked: Asked,
) => Promise<Outcome<O>>;

/** What keeps the agent's webhooks. */
function webhooksOf({ engine }: ServedAgent): Webhooks {
  if (!engine.webhooks) throw pushNotSupported();
  return engine.webhooks;
}

/** Every operation that is served (A2A §3.1), the same for all bindings and versions. */
const CALLS: { readonly [O in OperationName]: Call<O> } = {
  SendMessage: async ({ engine }, params, caller, service) => ({
    result: await engine.send(params, caller, service),
  }),
  SendStreamingMessage: async ({ engine }, params, caller, service) => ({
    stream: await engine.stream(params, caller, service),
  }),
  GetTask: async ({ engine }, params, caller) => ({ result: await engine.get(params, caller) }),
  ListTasks: async ({ engine }, params, caller) => ({ result: await engine.list(params, caller) }),
  CancelTask: async ({ engine }, params, caller) => ({ result: await engine.cancel(params, caller) }),
  SubscribeToTask: async ({ engine }, params, caller, service) => ({
    stream: await subscribe(engine, params, caller, service),
  }),
  GetExtendedAgentCard: async ({ card }, _params, caller, _service, asked) => ({
    result: await card.extended(caller, asked.origin),
  }),
  CreateTaskPushNotificationConfig: async (agent, params, caller, service) => ({
    result: await webhooksOf(agent).create(params, caller, service),
  }),
  GetTaskPushNotificationConfig: async (agent, params, caller) => ({
    result: await getConfig(webhooksOf(agent), params, caller),
  }),
  ListTaskPushNotificationConfigs: async (agent, params, caller) => ({
    result: await webhooksOf(agent).list(params, caller),
  }),
  DeleteTaskPushNotificationConfig: async (agent, params, caller) => ({
    result: await webhooksOf(agent).delete(params, caller),
  }),
};

/** A task that has ended can be followed no more: 1.0 refuses, 0.3 answers with the task alone. */
async function subscribe(
  engine: Engine,
  params: SubscribeToTaskRequest,
  caller: Caller,
  service: ServiceParameters,
): Promise<Subscription> {
  try {
    return await engine.subscribe(params, caller, service);
  } catch (error) {
    const isOver = error instanceof A2AError && error.reason === "UNSUPPORTED_OPERATION";
    if (!isOver || service.version !== "0.3") throw error;
    return streamOf(LogEvent.of(0, { task: await engine.get(params, caller) }));
  }
}

/** Without an id, as only 0.3 can ask, the task's first configuration. */
async function getConfig(
  webhooks: Webhooks,
  params: GetTaskPushNotificationConfigRequest,
  caller: Caller,
): Promise<TaskPushNotificationConfig> {
  if (params.id !== "") return await webhooks.get(params, caller);
  const { configs } = await webhooks.list({ taskId: params.taskId, pageSize: 1 }, caller);
  return configs[0] ?? (await webhooks.get(params, caller));
}

/** Performs an operation for a caller; `params` must have been decoded for that operation. */
export function perform<O extends OperationName>(
  operation: O,
  agent: ServedAgent,
  params: Operations[O]["params"],
  caller: Caller,
  service: ServiceParameters,
  asked: Asked,
): Promise<Outcome<O>> {
  const within = inTenant(caller, params.tenant);
  const call = (): Promise<Outcome<O>> => CALLS[operation](agent, params, within, service, asked);
  return agent.checkTenant ? agent.checkTenant(within).then(call) : call();
}

/** The caller in the tenant that the request names. Whom authentication has put into a tenant gets into no other (E13). */
function inTenant(caller: Caller, tenant: string = caller.tenant): Caller {
  if (caller.tenant === tenant) return caller;
  if (caller.tenant === "") return { ...caller, tenant, choseTenant: true };
  const text = `Your credentials are not for the tenant ${JSON.stringify(tenant.slice(0, 80))}; leave "tenant" out.`;
  throw new A2AError("PERMISSION_DENIED", text);
}
