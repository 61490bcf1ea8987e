import type { Caller } from "../engine/index.ts";
import { authenticateCaller } from "./auth/authenticate-caller.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { FetchRequest, toResponse } from "./fetch-adapter.ts";
import { routeRequest, type RouterContext } from "./router.ts";

/**
 * A request handler that shares the address of a server with its agents, such as another API for the same
 * agents.
 */
export interface MountedHandler {
  /**
   * Returns true for a path (without `basePath`) that this handler serves. Agents are not served at a path of
   * a mounted handler.
   */
  matchesPath(path: string): boolean;
  /**
   * Returns the response to a request. `createCallerContext` authenticates the request as the server does for
   * an agent, and provides access to the agents. `createCallerContext` rejects with an `A2AError` when
   * authentication fails. A response that does not use `createCallerContext` is public.
   */
  handle(request: Request, createCallerContext: () => Promise<CallerContext>): Promise<Response>;
}

/** Access to the agents of a server for one authenticated caller. */
export interface CallerContext {
  readonly caller: Caller;
  /** Base URL of the agents. Only the `fetch` function of this context can reach this URL. */
  readonly url: string;
  /** Sends a request to the server as the caller, without a network connection. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Base URL of in-process requests. A server that signs its cards also signs cards for loopback addresses. */
const IN_PROCESS_URL = "http://localhost";

/** Authenticates a request once and returns a context in which every request has that caller. */
export async function createCallerContext(
  request: HttpRequest,
  context: RouterContext,
): Promise<CallerContext> {
  const caller = await authenticateCaller(request, context.authenticate);
  const inProcessContext: RouterContext = {
    ...context,
    publicUrl: undefined,
    assertHostAllowed: () => {},
    authenticate: context.authenticate && (() => caller),
  };
  return {
    caller,
    url: IN_PROCESS_URL,
    fetch: async (fetchRequest) => {
      const httpRequest = new FetchRequest(fetchRequest);
      return toResponse(await routeRequest(httpRequest, inProcessContext), httpRequest);
    },
  };
}
