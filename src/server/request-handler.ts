import { generateErrorId, type Observer, type TaskStore } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { BasePathRequest } from "./base-path-request.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import type { CorsPolicy } from "./cors-policy.ts";
import type { CorsOptions } from "./cors.ts";
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
 * Handles the HTTP requests of a server: first the endpoints of the whole server, then the agents. Never rejects, because
 * every error becomes an error reply.
 */
export class RequestHandler {
  readonly #context: RequestHandlerDependencies;
  /** Handlers of the paths that belong to the whole server. A handler returns `undefined` if its endpoint is turned off. */
  readonly #serverPaths: ReadonlyMap<string, ServerPathHandler>;
  #corsPolicy: CorsPolicy | undefined;

  constructor(context: RequestHandlerDependencies) {
    const { tickToken: token, processDueWork, handleMetricsRequest } = context;
    this.#context = context;
    this.#serverPaths = new Map<string, ServerPathHandler>([
      ["/healthz", (request) => this.#handleHealthRequest(request)],
      ["/readyz", (request) => this.#handleHealthRequest(request)],
      ["/tick", (request) => handleTickRequest(request, { token, processDueWork })],
      ["/metrics", handleMetricsRequest],
    ]);
  }

  handle(request: HttpRequest): Promise<HttpReply> {
    const { cors } = this.#context.options;
    return cors ? this.#handleWithCors(request, cors) : this.#handleAndReport(request);
  }

  async #handleWithCors(request: HttpRequest, cors: CorsOptions): Promise<HttpReply> {
    if (!this.#corsPolicy) {
      const { CorsPolicy: Policy } = await import("./cors-policy.ts");
      this.#corsPolicy ??= new Policy(cors);
    }
    return await this.#corsPolicy.respond(request, () => this.#handleAndReport(request));
  }

  #handleAndReport(request: HttpRequest): Promise<HttpReply> {
    const { observer } = this.#context;
    return observer.onRequest
      ? reportRequest(observer, request, getHttpStatus, () => this.#handleUnderBasePath(request))
      : this.#handleUnderBasePath(request);
  }

  #handleUnderBasePath(request: HttpRequest): Promise<HttpReply> {
    const { options, routerContext } = this.#context;
    const { basePath } = options;
    try {
      const mounted = basePath === undefined ? request : new BasePathRequest(request, basePath);
      const reply = this.#serverPaths.get(mounted.path)?.(mounted);
      if (reply)
        return Promise.resolve(reply).catch((error: unknown) =>
          this.#createErrorReply(request, routerContext.reportError("server", error)),
        );
      if (options.role === "worker") throw createWorkerError();
      return this.#context.storeOpener.isOpen
        ? routeRequest(mounted, routerContext)
        : this.#openStoreAndRoute(mounted);
    } catch (error) {
      return Promise.resolve(this.#createErrorReply(request, A2AError.from(error)));
    }
  }

  #handleHealthRequest(request: HttpRequest): HttpReply | Promise<HttpReply> | undefined {
    const { options, routerContext, store, storeOpener, isClosing, isDraining } = this.#context;
    if (options.healthEndpoints === false) return undefined;
    return handleHealthRequest(request, {
      isClosing: isClosing(),
      isDraining: isDraining(),
      storeHealth: store.health,
      openStore: () =>
        storeOpener.open().catch((error: unknown) => {
          throw routerContext.reportError("store", error);
        }),
    });
  }

  async #openStoreAndRoute(request: HttpRequest): Promise<HttpReply> {
    const { routerContext, storeOpener, observer } = this.#context;
    try {
      await storeOpener.open();
    } catch (error) {
      const errorId = generateErrorId();
      observer.onError?.({ where: "store", error, errorId });
      const text = `The server cannot open its store; its log has the cause under error id ${errorId}.`;
      return this.#createErrorReply(request, new A2AError("UNAVAILABLE", text));
    }
    return await routeRequest(request, routerContext);
  }

  #createErrorReply(request: HttpRequest, error: A2AError): HttpReply {
    return createRestErrorReply(request, this.#context.routerContext.specRevision, error);
  }
}

function createWorkerError(): A2AError {
  const text =
    "This server is a worker and accepts no A2A requests; send the request to a server with the role web.";
  return new A2AError("UNAVAILABLE", text);
}
