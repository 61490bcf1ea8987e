import type { Observer } from "../engine/index.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import type { CallerAgentAccess } from "./caller-agent-access.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import type { HttpRequest } from "./http-exchange.ts";
import {
  authenticateAndCreateAgentAccess,
  createAgentAccess,
  type MountedHandler,
} from "./mounted-handler.ts";
import { findOperatorAccess, type OperatorAccess } from "./operator-access.ts";
import { getHttpStatus, reportRequest } from "./report-request.ts";
import type { RouterContext } from "./router.ts";
import { parseTraceContext } from "../protocol/index.ts";
import { runInTraceScope } from "../observe/telemetry/index.ts";
import type { ServerStore } from "./resolve-store.ts";

/** What a mounted handler needs of its server. */
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
    return await reportRequest(host.observer, request, getHttpStatus, () =>
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
  const access = await authenticateAndCreateAgentAccess(request, routerContext, store);
  request.byteAccount?.assignToCaller(access.caller);
  return access;
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
