import type { Caller, Observer } from "../engine/index.ts";
import { authenticateCaller, type Authenticator } from "./auth/authenticator.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import { type OperatorAccess, findOperatorAccess } from "./operator-access.ts";
import {
  type CallerAgentAccess,
  createTaskLogAccess,
  limitTaskLogAccess,
  type TaskLogAccess,
} from "./task-log-access.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import type { ServerStore } from "./resolve-store.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import { reportRequest } from "./instrument/operation-watch.ts";
import { parseTraceContext } from "../protocol/index.ts";
import { runInTraceScope } from "../observe/telemetry/index.ts";

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

/** Creates a context that sends requests as a caller that the server has authenticated. */
function createAgentAccess(
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

/** The parts of the server that a mounted handler uses. */
interface MountedHandlerHost {
  readonly store: ServerStore;
  readonly observer: Observer;
  readonly routerContext: RouterContext;
  /** Authenticates operators. Undefined if the server has no operators. */
  readonly operatorAuthenticator: Authenticator | undefined;
  readonly openStore: () => Promise<void>;
}

/** Calls a mounted handler with access to the agents on behalf of the caller. Never rejects. */
export async function callMountedHandler(
  handler: MountedHandler,
  fetchRequest: Request,
  request: HttpRequest,
  host: MountedHandlerHost,
): Promise<Response> {
  const { routerContext } = host;
  const withHeaders = (headers?: Readonly<Record<string, string>>): HttpRequest =>
    headers ? new FetchRequest(new Request(fetchRequest.url, { headers }), request.remoteAddress) : request;
  try {
    routerContext.assertRequestAllowed(request);
    return await reportRequest(
      host.observer,
      request,
      ({ status }) => status,
      () =>
        runInTraceOfRequest(request, () =>
          handler.handle(
            fetchRequest,
            (headers) => createCallerAccess(withHeaders(headers), host),
            (headers) => createOperatorAccess(withHeaders(headers), host),
          ),
        ),
    );
  } catch (thrown) {
    const error = routerContext.reportError("mounted handler", thrown);
    return toFetchResponse(createRestErrorReply(request, routerContext.specRevision, error), request);
  }
}

async function createCallerAccess(
  request: HttpRequest,
  { store, routerContext, openStore }: MountedHandlerHost,
): Promise<CallerAgentAccess> {
  await openStore();
  const caller = await authenticateCaller(request, routerContext.authenticate);
  request.byteAccount?.assignToCaller(caller);
  return createAgentAccess(request, caller, routerContext, store);
}

async function createOperatorAccess(
  request: HttpRequest,
  { store, observer, routerContext, operatorAuthenticator, openStore }: MountedHandlerHost,
): Promise<OperatorAccess | undefined> {
  if (!operatorAuthenticator) return undefined;
  await openStore();
  const access = await findOperatorAccess(request, {
    authenticator: operatorAuthenticator,
    store,
    observer,
    createAccess: (caller) => createAgentAccess(request, caller, routerContext, store),
  });
  if (access) request.byteAccount?.assignToCaller(access.operator);
  return access;
}

/** Runs `work` in the trace of a request, so that the calls of a mounted handler continue the trace. */
function runInTraceOfRequest<T>(request: Pick<HttpRequest, "header">, work: () => T): T {
  const context = parseTraceContext(request.header("traceparent"), request.header("tracestate"));
  return context ? runInTraceScope({ context }, work) : work();
}
