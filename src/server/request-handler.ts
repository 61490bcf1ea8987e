import {
  generateErrorId,
  type Observer,
  STORE_RETRY_AFTER_SECONDS,
  type StoreHealth,
  type StoreState,
} from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import type { CorsPolicy } from "./cors-policy.ts";
import type { DueWorkReport } from "./due-work.ts";
import {
  type HttpReply,
  type HttpRequest,
  createJsonReply,
  assertHttpMethodAllowed,
} from "./http-exchange.ts";
import { reportRequest } from "./instrument/operation-watch.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import type { ServerOptions } from "./server-options.ts";
import { isSameSecret } from "../base/data-structures/index.ts";
import type { ServerStore } from "./resolve-store.ts";

type ServerPathHandler = (request: HttpRequest) => HttpReply | Promise<HttpReply>;

interface RequestHandlerDependencies {
  readonly options: Pick<ServerOptions, "basePath" | "cors" | "healthEndpoints" | "role">;
  readonly routerContext: RouterContext;
  readonly observer: Observer;
  readonly store: ServerStore;
  readonly storeOpener: StoreOpener;
  /** Bearer token of the endpoint `/tick`. Without a token, the endpoint does not exist. */
  readonly tickToken: string | undefined;
  readonly processDueWork: (timeLimitMs: number | undefined) => Promise<DueWorkReport>;
  readonly handleMetricsRequest: ServerPathHandler | undefined;
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
      if (basePath !== undefined) removeBasePath(request, basePath);
      const reply = serverPaths.get(request.path)?.(request);
      if (reply)
        return Promise.resolve(reply).catch((error: unknown) =>
          createErrorReply(request, routerContext.reportError("server", error)),
        );
      if (options.role === "worker") throw createWorkerError();
      return storeOpener.isOpen ? routeRequest(request, routerContext) : openStoreAndRoute(request);
    } catch (error) {
      return Promise.resolve(createErrorReply(request, A2AError.from(error)));
    }
  };
  const handle = observer.onRequest
    ? (request: HttpRequest): Promise<HttpReply> =>
        reportRequest(
          observer,
          request,
          ({ status }) => status,
          () => respond(request),
        )
    : respond;
  if (!cors) return handle;
  let policy: CorsPolicy | undefined;
  return async (request) => {
    policy ??= new (await import("./cors-policy.ts")).CorsPolicy(cors);
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
  const handlers = new Map<string, ServerPathHandler>();
  if (handleMetricsRequest) handlers.set("/metrics", handleMetricsRequest);
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

/**
 * Removes `basePath` from the path of a request, and appends it to the origin, so that the router can ignore it. Throws
 * NOT_FOUND if the path is outside `basePath`. If a host app removed `basePath` from request paths, agent cards would
 * contain wrong URLs.
 */
function removeBasePath(request: HttpRequest, basePath: string): void {
  const { path } = request;
  if (path !== basePath && !path.startsWith(`${basePath}/`)) {
    const text = `The path ${path.slice(0, 200)} is outside the basePath ${basePath} of this server; make the host pass full paths.`;
    throw new A2AError("NOT_FOUND", text);
  }
  request.path = path.slice(basePath.length) || "/";
  request.basePath = basePath;
}

/** State of a server that the health endpoints report. */
interface ServerHealth {
  /** Whether the server is closing and accepts no more work. */
  readonly isClosing: boolean;
  /** Whether the server stops soon, and a load balancer should send no more requests. */
  readonly isDraining: boolean;
  readonly storeHealth: StoreHealth | undefined;
  /** Opens the task store. Rejects if the store cannot be opened. */
  readonly openStore: () => Promise<void>;
}

const NO_CACHE = { "cache-control": "no-store" };

/**
 * Replies to `GET /healthz` and `GET /readyz`. `/healthz` replies with
 * 200 as long as the process handles requests. `/readyz` replies with 200 if the server accepts new messages,
 * and otherwise with 503. A draining server also replies with 503, although it still accepts messages. The replies need
 * no authentication, because they contain only states.
 */
function handleHealthRequest(request: HttpRequest, health: ServerHealth): HttpReply | Promise<HttpReply> {
  assertHttpMethodAllowed(request, ["GET", "HEAD"]);
  if (request.path === "/healthz") return createJsonReply(200, JSON.stringify({ status: "ok" }), NO_CACHE);
  return createReadinessReply(health);
}

async function createReadinessReply({
  isClosing,
  isDraining,
  storeHealth,
  openStore,
}: ServerHealth): Promise<HttpReply> {
  let store: StoreState | "closed" = "closed";
  if (!isClosing) {
    store = await openStore().then(
      () => storeHealth?.state ?? "healthy",
      () => "closed" as const,
    );
  }
  const isReady = store === "healthy" && !isDraining;
  const status = isReady ? "ready" : isDraining ? "draining" : "unavailable";
  const body = JSON.stringify({ status, store });
  if (isReady) return createJsonReply(200, body, NO_CACHE);
  return createJsonReply(503, body, { ...NO_CACHE, "retry-after": String(STORE_RETRY_AFTER_SECONDS) });
}

const MAX_SECONDS = 3600;

interface TickEndpoint {
  /** Bearer token of the endpoint. */
  readonly token: string;
  readonly processDueWork: (timeLimitMs: number | undefined) => Promise<DueWorkReport>;
}

/**
 * Replies to `POST /tick`. A scheduler calls the endpoint, so that a server that
 * runs only during requests processes its waiting turns and push notifications. The query `?seconds=20` limits the time.
 */
function handleTickRequest(
  request: HttpRequest,
  { token, processDueWork }: TickEndpoint,
): Promise<HttpReply> {
  assertHttpMethodAllowed(request, ["POST"]);
  if (!isSameSecret(request.header("authorization") ?? "", `Bearer ${token}`))
    throw new A2AError("UNAUTHENTICATED", "POST /tick requires the bearer token of the option tickToken.");
  return processDueWork(parseTimeLimitMs(request.query)).then((report) =>
    createJsonReply(200, JSON.stringify(report), { "cache-control": "no-store" }),
  );
}

function parseTimeLimitMs(query: string): number | undefined {
  const text = new URLSearchParams(query).get("seconds");
  if (text === null) return undefined;
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  const description = `is ${JSON.stringify(text.slice(0, 20))}; use a number of seconds up to ${MAX_SECONDS}`;
  throw A2AError.invalidParams([{ field: "seconds", description }]);
}

/** Opens the task store of a server, and the services that need the open store. */
export class StoreOpener {
  readonly #open: () => Promise<void>;
  #opening: Promise<void> | undefined;
  #isOpen = false;

  constructor(open: () => Promise<void>) {
    this.#open = open;
  }

  /** True once the store and the services are open. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The current or last attempt to open the store, unless the attempt has failed. */
  get opening(): Promise<void> | undefined {
    return this.#opening;
  }

  /** Opens the store once. If opening fails, all callers of the attempt fail, and the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #openOnce(): Promise<void> {
    try {
      await this.#open();
      this.#isOpen = true;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
