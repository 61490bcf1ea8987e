import type { Caller, Observer } from "../engine/index.ts";
import { authenticateCaller } from "./auth/authenticator.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import type { OperatorAccess } from "./operator-access.ts";
import type { CallerAgentAccess } from "./caller-agent-access.ts";
import { createTaskLogAccess, limitTaskLogAccess, type TaskLogAccess } from "./task-log-access.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import type { ServerStore } from "./resolve-store.ts";

/** A request handler on the same port as the server's agents, such as another API for the agents. */
export interface MountedHandler {
  /**
   * Returns true if the mounted handler serves a path. The parameter `path` does not include `basePath`.
   * Mounted handlers have precedence over agents.
   */
  matchesPath(path: string): boolean;
  /**
   * Returns the response to a request. `createCallerContext` authenticates the request with the server's
   * option `authenticate`. The returned context accesses the agents on behalf of the caller.
   * `createCallerContext` rejects with an `A2AError` if authentication fails. If the handler does not call
   * `createCallerContext`, the response is public. `findOperatorAccess` returns the access of an operator, or
   * `undefined` if the request has no credentials that the server's option `operator` accepts. A handler that has
   * sessions passes the headers with the credentials of the session, which replace the headers of the request.
   */
  handle(
    request: Request,
    createCallerContext: (headers?: Readonly<Record<string, string>>) => Promise<CallerAgentAccess>,
    findOperatorAccess: (headers?: Readonly<Record<string, string>>) => Promise<OperatorAccess | undefined>,
  ): Promise<Response>;
  /** Listeners that the server calls in addition to its own observer. Default: none. */
  readonly observer?: Observer;
  /**
   * Called for events that other servers with the same PostgreSQL database have committed, while the servers receive
   * hints of each other, or if the server has the option `operator`. Default: none.
   */
  readonly onOtherNodeEvent?: Observer["onEvent"];
}

/**
 * Base URL of in-process requests. The host is `localhost`, because a server without `publicUrl` signs
 * agent cards only for loopback addresses.
 */
const IN_PROCESS_URL = "http://localhost";

/**
 * Authenticates a request and creates a caller context. The context sends further requests as the
 * authenticated caller.
 */
export async function authenticateAndCreateAgentAccess(
  request: HttpRequest,
  context: RouterContext,
  store: ServerStore,
): Promise<CallerAgentAccess> {
  const caller = await authenticateCaller(request, context.authenticate);
  return createAgentAccess(request, caller, context, store);
}

/** Creates a context that sends requests as a caller that the server has authenticated. */
export function createAgentAccess(
  request: HttpRequest,
  caller: Caller,
  context: RouterContext,
  store: ServerStore,
): CallerAgentAccess {
  const inProcessContext: RouterContext = {
    ...context,
    publicUrl: undefined,
    assertRequestAllowed: () => {},
    authenticate: () => caller,
  };
  return {
    caller,
    url: IN_PROCESS_URL,
    tasks: createLimitedTaskLogAccess(caller, context, store),
    fetch: async (fetchRequest) => {
      const httpRequest = new FetchRequest(fetchRequest, request.remoteAddress);
      return toFetchResponse(await routeRequest(httpRequest, inProcessContext), httpRequest);
    },
  };
}

function createLimitedTaskLogAccess(
  caller: Caller,
  { agents }: Pick<RouterContext, "agents">,
  store: ServerStore,
): TaskLogAccess {
  const access = createTaskLogAccess(store, caller, [...agents.keys()]);
  const { contextScope } = caller;
  if (!contextScope) return access;
  return limitTaskLogAccess(access, contextScope, async (agentId, taskId) =>
    agents.get(agentId)?.engine.findContextId(taskId, caller),
  );
}
