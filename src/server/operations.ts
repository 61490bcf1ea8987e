import type { Caller, Engine, Subscription } from "../engine/index.ts";
import { A2AError, type OperationName, type Operations } from "../protocol/index.ts";

/** What an operation answers: the result as JSON, or a stream of events. */
export type Outcome = { readonly json: string } | { readonly stream: Subscription };

/** Where in a stream the client stopped, when it says so; a seq. */
type Resume = number | undefined;

type Call<O extends OperationName> = (
  engine: Engine,
  params: Operations[O]["params"],
  caller: Caller,
  resume: Resume,
) => Promise<Outcome>;

const answer = async (result: Promise<unknown>): Promise<Outcome> => ({ json: JSON.stringify(await result) });

/** Every operation that is served (A2A §3.1), the same for all bindings. */
const CALLS: { readonly [O in OperationName]: Call<O> } = {
  SendMessage: (engine, params, caller) => answer(engine.send(params, caller)),
  SendStreamingMessage: async (engine, params, caller, resume) => ({
    stream: await engine.stream(params, caller, resume),
  }),
  GetTask: (engine, params, caller) => answer(engine.get(params, caller)),
  ListTasks: (engine, params, caller) => answer(engine.list(params, caller)),
  CancelTask: (engine, params, caller) => answer(engine.cancel(params, caller)),
  SubscribeToTask: async (engine, params, caller, resume) => ({
    stream: await engine.subscribe(params, caller, resume),
  }),
  GetExtendedAgentCard: () => {
    throw new A2AError("UNSUPPORTED_OPERATION", "This agent has no extended card; its public card says all.");
  },
};

/** Performs an operation for a caller; `params` must have been decoded for that operation. */
export function perform<O extends OperationName>(
  operation: O,
  engine: Engine,
  params: Operations[O]["params"],
  caller: Caller,
  resume: Resume,
): Promise<Outcome> {
  return CALLS[operation](engine, params, inTenant(caller, params.tenant), resume);
}

/** The caller in the tenant that the request names. Whom authentication has put into a tenant gets into no other (E13). */
function inTenant(caller: Caller, tenant: string = caller.tenant): Caller {
  if (caller.tenant === tenant) return caller;
  if (caller.tenant === "") return { ...caller, tenant };
  const text = `Your credentials are not for the tenant ${JSON.stringify(tenant.slice(0, 80))}; leave "tenant" out.`;
  throw new A2AError("PERMISSION_DENIED", text);
}

/** The refusal of push notifications, which the card does not offer (A2A §3.3.4). */
export function pushNotSupported(): A2AError {
  return new A2AError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "This agent sends no push notifications (its card says so); use SubscribeToTask or GetTask.",
  );
}

/** The seq in a `Last-Event-ID` header. */
export function resumePoint(lastEventId: string | undefined): Resume {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  const description = `${JSON.stringify(lastEventId.slice(0, 40))} is no event id of this server; leave it out to begin with the task`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}
