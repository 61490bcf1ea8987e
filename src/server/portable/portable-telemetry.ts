import { withSafeListeners } from "../../engine/index.ts";
import type { ServerPlatform } from "../server-platform.ts";
import { createRunTracing } from "../telemetry/create-run-tracing.ts";

/** Continues the traces of callers, without spans and metrics. Only Node.js, Bun, and Deno have tracers that record. */
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
    runTracing: telemetry ? createRunTracing({ findCard, buildRunAttributes: () => ({}) }) : undefined,
    operationObserver: undefined,
    open: () => Promise.resolve(),
    listen: () => Promise.resolve(undefined),
    handleMetricsRequest: () => undefined,
    close: () => Promise.resolve(),
  };
};
