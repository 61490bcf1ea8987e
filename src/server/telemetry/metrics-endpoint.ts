import { createServer, type Server } from "node:http";
import { A2AError, findHostRefusal } from "../../protocol/index.ts";
import { type MetricRegistry, PROMETHEUS_CONTENT_TYPE, renderPrometheusText } from "../../telemetry/index.ts";
import { assertHttpMethodAllowed } from "../bindings/method-not-allowed-error.ts";
import type { HttpReply, HttpRequest } from "../http-exchange.ts";
import { isSameSecret } from "../is-same-secret.ts";

const METRICS_PATH = "/metrics";

/**
 * Replies to `GET /metrics` with the metrics in the format of Prometheus, or returns `undefined` for other paths. Without
 * a token, the endpoint does not exist.
 */
export function handleMetricsRequest(
  request: HttpRequest,
  { token, registry }: { readonly token: string | undefined; readonly registry: MetricRegistry | undefined },
): HttpReply | undefined {
  if (token === undefined || !registry || request.path !== METRICS_PATH) return undefined;
  assertHttpMethodAllowed(request, ["GET", "HEAD"]);
  if (!isSameSecret(request.header("authorization") ?? "", `Bearer ${token}`))
    throw new A2AError(
      "UNAUTHENTICATED",
      "GET /metrics requires the bearer token of the option metrics.token.",
    );
  const headers = { "content-type": PROMETHEUS_CONTENT_TYPE, "cache-control": "no-store" };
  return { status: 200, headers, body: renderPrometheusText(registry) };
}

/**
 * Creates an HTTP server that replies to `GET /metrics` without authentication, for a port inside of the network. On
 * loopback, the server refuses foreign Host headers, so that web pages cannot read the metrics by DNS rebinding.
 */
export function createMetricsListener(registry: MetricRegistry, host: string): Server {
  return createServer((request, response) => {
    const refusal = findHostRefusal(request.headersDistinct["host"], host);
    const isFound = request.url?.split("?", 1)[0] === METRICS_PATH;
    const isAllowed = request.method === "GET" || request.method === "HEAD";
    if (refusal !== undefined) response.writeHead(refusal).end();
    else if (!isFound || !isAllowed) response.writeHead(isFound ? 405 : 404).end();
    else
      response
        .writeHead(200, { "content-type": PROMETHEUS_CONTENT_TYPE, "cache-control": "no-store" })
        .end(renderPrometheusText(registry));
  });
}
