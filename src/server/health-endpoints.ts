import { STORE_RETRY_AFTER_SECONDS, type StoreHealth, type StoreState } from "../engine/index.ts";
import { assertHttpMethodAllowed } from "./bindings/method-not-allowed-error.ts";
import { createJsonReply, type HttpReply, type HttpRequest } from "./http-exchange.ts";

/** State of a server that the health endpoints report. */
export interface ServerHealth {
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
export function handleHealthRequest(
  request: HttpRequest,
  health: ServerHealth,
): HttpReply | Promise<HttpReply> {
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
