import type { Caller } from "../engine/index.ts";
import { authenticateCaller } from "./auth/authenticate-caller.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import { routeRequest, type RouterContext } from "./router.ts";

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
   * `createCallerContext`, the response is public.
   */
  handle(request: Request, createCallerContext: () => Promise<CallerAgentAccess>): Promise<Response>;
}

/** Accesses the agents of a server on behalf of an authenticated caller. */
export interface CallerAgentAccess {
  readonly caller: Caller;
  /** Base URL of the agents. Only the `fetch` function of the caller context can reach this URL. */
  readonly url: string;
  /** Sends a request from the caller to the server, without a network connection. */
  readonly fetch: (request: Request) => Promise<Response>;
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
): Promise<CallerAgentAccess> {
  const caller = await authenticateCaller(request, context.authenticate);
  const inProcessContext: RouterContext = {
    ...context,
    publicUrl: undefined,
    assertRequestAllowed: () => {},
    authenticate: context.authenticate && (() => caller),
  };
  return {
    caller,
    url: IN_PROCESS_URL,
    fetch: async (fetchRequest) => {
      const httpRequest = new FetchRequest(fetchRequest, request.remoteAddress);
      return toFetchResponse(await routeRequest(httpRequest, inProcessContext), httpRequest);
    },
  };
}
