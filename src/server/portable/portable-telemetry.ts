import { withSafeListeners } from "../../engine/index.ts";
import type { ServerPlatform } from "../server-platform.ts";
import { createRunTracing } from "../telemetry/create-run-tracing.ts";
import { OperationObserver } from "../telemetry/operation-observer.ts";

/** Continues the traces of callers, without spans and metrics. */
export const createPortableTelemetry: ServerPlatform["createTelemetry"] = ({
  telemetry = {},
  metrics,
  observer,
  findCard,
}) => {
  if (metrics || (telemetry && telemetry.otlp !== undefined))
    throw new Error(
      `The options "metrics" and "telemetry.otlp" require Node.js, Bun, or Deno; omit the options.`,
    );
  return {
    observer: withSafeListeners(observer),
    runTracing: telemetry ? createRunTracing(findCard) : undefined,
    operationObserver: telemetry
      ? new OperationObserver({ startsSpans: true, onOperation: undefined })
      : undefined,
    open: () => Promise.resolve(),
    listen: () => Promise.resolve(undefined),
    handleMetricsRequest: () => undefined,
    close: () => Promise.resolve(),
  };
};
