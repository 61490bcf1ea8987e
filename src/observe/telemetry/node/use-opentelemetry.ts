import { isProviderRegistered, setTracer } from "../tracer.ts";
import type { MetricRegistry } from "../metrics/metric-registry.ts";
import type { OtlpExportOptions, RunningOtlpExport } from "../otlp-export-options.ts";
import { overrideTraceScopeStorage } from "../trace-scope.ts";

let isLoaded = false;
let pendingLoad: Promise<void> | undefined;
let otlpExport: Promise<RunningOtlpExport> | undefined;

/**
 * Uses OpenTelemetry for all further spans, if the program has registered a provider of OpenTelemetry. Servers and
 * clients call the function when they open. The package `@opentelemetry/api` is loaded only then.
 */
export function useRegisteredOpenTelemetry(): Promise<void> | undefined {
  if (isLoaded || !isProviderRegistered("trace")) return undefined;
  pendingLoad ??= loadOpenTelemetryTracer();
  return pendingLoad;
}

async function loadOpenTelemetryTracer(): Promise<void> {
  try {
    const { ContextScopeStorage, OpenTelemetryTracer } =
      await import("../opentelemetry/opentelemetry-tracer.ts");
    const hasContextManager = isProviderRegistered("context");
    if (hasContextManager) overrideTraceScopeStorage(new ContextScopeStorage());
    setTracer(new OpenTelemetryTracer({ hasContextManager, hasOwnSampler: otlpExport !== undefined }));
    isLoaded = true;
  } catch {
    // A bundled program can register providers without an installed package. The traces continue without spans.
  }
}

/**
 * Starts the export of spans and metrics to a collector, or returns the export that an earlier server of the process has
 * started. Returns `undefined` if the program has registered its own provider, which then exports the spans. Rejects if
 * the packages of OpenTelemetry are not installed.
 */
export async function startOtlpExportOnce(
  options: OtlpExportOptions,
): Promise<RunningOtlpExport | undefined> {
  if (!otlpExport && isProviderRegistered("trace")) return undefined;
  otlpExport ??= import("../opentelemetry/start-otlp-export.ts").then(
    ({ startOtlpExport }) => startOtlpExport(options),
    (cause: unknown) => {
      otlpExport = undefined;
      const packages = OTLP_PACKAGES.map((name) => `@opentelemetry/${name}`).join(" ");
      throw new Error(`The option "otlp" requires additional packages: npm install ${packages}`, { cause });
    },
  );
  const running = await otlpExport;
  await useRegisteredOpenTelemetry();
  return running;
}

/** The versions that ADK also installs. The latest versions of these packages exclude each other. */
const OTLP_PACKAGES = [
  "api@1.9",
  "exporter-metrics-otlp-http@0.205",
  "exporter-trace-otlp-http@0.205",
  "resources@2.1",
  "sdk-metrics@2.1",
  "sdk-trace-node@2.1",
] as const;

/** Publishes the metrics of a server, if the program has registered a meter provider of OpenTelemetry. */
export async function publishMetricsIfRegistered(registry: MetricRegistry): Promise<void> {
  if (!isProviderRegistered("metrics")) return;
  const published = await import("../opentelemetry/opentelemetry-metrics.ts").catch(() => undefined);
  published?.publishMetricsToOpenTelemetry(registry);
}

/** Returns to a tracer that records nothing, for tests that replace the provider. */
export function resetTracer(): void {
  setTracer(undefined);
  overrideTraceScopeStorage(undefined);
  isLoaded = false;
  pendingLoad = undefined;
  otlpExport = undefined;
}
