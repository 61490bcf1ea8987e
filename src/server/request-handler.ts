import { generateErrorId, type Observer, type TaskStore } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { BasePathRequest } from "./base-path-request.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import type { CorsPolicy } from "./cors-policy.ts";
import type { DueWorkReport } from "./due-work.ts";
import { handleHealthRequest } from "./health-endpoints.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";
import { getHttpStatus, reportRequest } from "./report-request.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import type { ServerOptions } from "./server-options.ts";
import type { StoreOpener } from "./store-opener.ts";
import { handleTickRequest } from "./tick-endpoint.ts";

type ServerPathHandler = (request: HttpRequest) => HttpReply | Promise<HttpReply> | undefined;

interface RequestHandlerDependencies {
  readonly options: Pick<ServerOptions, "basePath" | "cors" | "healthEndpoints" | "role">;
  readonly routerContext: RouterContext;
  readonly observer: Observer;
  readonly store: TaskStore;
  readonly storeOpener: StoreOpener;
  /** Bearer token of the endpoint `/tick`. Without a token, the endpoint does not exist. */
  readonly tickToken: string | undefined;
  readonly processDueWork: (timeLimitMs: number | undefined) => Promise<DueWorkReport>;
  readonly handleMetricsRequest: (request: HttpRequest) => HttpReply | Promise<HttpReply> | undefined;
  readonly isDraining: () => boolean;
  readonly isClosing: () => boolean;
}

/**
 * Composes the function that handles the HTTP requests of a server: first the endpoints of the whole server, then the
 * agents. The function never rejects, because every error becomes an error reply. An absent option adds no call.
 */
export function composeRequestHandler(
  context: RequestHandlerDependencies,
): (request: HttpRequest) => Promise<HttpReply> {
  const { options, routerContext, observer, storeOpener } = context;
  const { basePath, cors } = options;
  const serverPaths = createServerPathHandlers(context);
  const createErrorReply = (request: HttpRequest, error: A2AError): HttpReply =>
    createRestErrorReply(request, routerContext.specRevision, error);
  const openStoreAndRoute = async (request: HttpRequest): Promise<HttpReply> => {
    try {
      await storeOpener.open();
    } catch (error) {
      const errorId = generateErrorId();
      observer.onError?.({ where: "store", error, errorId });
      const text = `The server cannot open its store; its log has the cause under error id ${errorId}.`;
      return createErrorReply(request, new A2AError("UNAVAILABLE", text));
    }
    return await routeRequest(request, routerContext);
  };
  const respond = (request: HttpRequest): Promise<HttpReply> => {
    try {
      const mounted = basePath === undefined ? request : new BasePathRequest(request, basePath);
      const reply = serverPaths.get(mounted.path)?.(mounted);
      if (reply)
        return Promise.resolve(reply).catch((error: unknown) =>
          createErrorReply(request, routerContext.reportError("server", error)),
        );
      if (options.role === "worker") throw createWorkerError();
      return storeOpener.isOpen ? routeRequest(mounted, routerContext) : openStoreAndRoute(mounted);
    } catch (error) {
      return Promise.resolve(createErrorReply(request, A2AError.from(error)));
    }
  };
  const handle = observer.onRequest
    ? (request: HttpRequest): Promise<HttpReply> =>
        reportRequest(observer, request, getHttpStatus, () => respond(request))
    : respond;
  if (!cors) return handle;
  let policy: CorsPolicy | undefined;
  return async (request) => {
    const { CorsPolicy: Policy } = await import("./cors-policy.ts");
    policy ??= new Policy(cors);
    return await policy.respond(request, () => handle(request));
  };
}

/** Returns the handlers of the paths that belong to the whole server, without the endpoints that are turned off. */
function createServerPathHandlers({
  options,
  routerContext,
  store,
  storeOpener,
  tickToken: token,
  processDueWork,
  handleMetricsRequest,
  isDraining,
  isClosing,
}: RequestHandlerDependencies): ReadonlyMap<string, ServerPathHandler> {
  const handleHealth: ServerPathHandler = (request) =>
    handleHealthRequest(request, {
      isClosing: isClosing(),
      isDraining: isDraining(),
      storeHealth: store.health,
      openStore: () =>
        storeOpener.open().catch((error: unknown) => {
          throw routerContext.reportError("store", error);
        }),
    });
  const handlers = new Map<string, ServerPathHandler>([["/metrics", handleMetricsRequest]]);
  if (options.healthEndpoints !== false) handlers.set("/healthz", handleHealth).set("/readyz", handleHealth);
  if (token !== undefined)
    handlers.set("/tick", (request) => handleTickRequest(request, { token, processDueWork }));
  return handlers;
}

function createWorkerError(): A2AError {
  const text =
    "This server is a worker and accepts no A2A requests; send the request to a server with the role web.";
  return new A2AError("UNAVAILABLE", text);
}
