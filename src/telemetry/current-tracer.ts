import type { MetricRegistry } from "./metrics/metric-registry.ts";
import type { OtlpExportOptions, RunningOtlpExport } from "./otlp-export-options.ts";
import { PropagatingTracer, type Tracer } from "./tracer.ts";

/**
 * The key under which every copy of `@opentelemetry/api` 1.x stores the providers of the process. The key shows that a
 * provider is registered, without loading the package.
 */
const OPENTELEMETRY_GLOBAL: symbol = Symbol.for("opentelemetry.js.api.1");

const propagatingTracer = new PropagatingTracer((bytes) => globalThis.crypto.getRandomValues(bytes));
/** OpenTelemetry has one provider for each process, so the process also has one tracer. */
let currentTracer: Tracer = propagatingTracer;
let pendingLoad: Promise<void> | undefined;
let otlpExport: Promise<RunningOtlpExport> | undefined;

/** Returns the tracer of the process. */
export function getTracer(): Tracer {
  return currentTracer;
}

/**
 * Uses OpenTelemetry for all further spans, if the program has registered a provider of OpenTelemetry. Servers and
 * clients call the function when they open. The package `@opentelemetry/api` is loaded only then.
 */
export function useRegisteredOpenTelemetry(): Promise<void> | undefined {
  if (currentTracer !== propagatingTracer || !isProviderRegistered("trace")) return undefined;
  pendingLoad ??= loadOpenTelemetryTracer();
  return pendingLoad;
}

async function loadOpenTelemetryTracer(): Promise<void> {
  try {
    const { OpenTelemetryTracer } = await import("./opentelemetry/opentelemetry-tracer.ts");
    currentTracer = new OpenTelemetryTracer();
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
  otlpExport ??= import("./opentelemetry/start-otlp-export.ts").then(
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

const OTLP_PACKAGES = [
  "api",
  "exporter-metrics-otlp-http",
  "exporter-trace-otlp-http",
  "resources",
  "sdk-metrics",
  "sdk-trace-node",
] as const;

/** Publishes the metrics of a server, if the program has registered a meter provider of OpenTelemetry. */
export async function publishMetricsIfRegistered(registry: MetricRegistry): Promise<void> {
  if (!isProviderRegistered("metrics")) return;
  const published = await import("./opentelemetry/opentelemetry-metrics.ts").catch(() => undefined);
  published?.publishMetricsToOpenTelemetry(registry);
}

/** Returns to a tracer that records nothing, for tests that replace the provider. */
export function resetTracer(): void {
  currentTracer = propagatingTracer;
  pendingLoad = undefined;
  otlpExport = undefined;
}

/** Returns whether the program has registered a provider of spans (`trace`) or of metrics. */
export function isProviderRegistered(kind: "trace" | "metrics"): boolean {
  const registered: unknown = Reflect.get(globalThis, OPENTELEMETRY_GLOBAL);
  return typeof registered === "object" && registered !== null && kind in registered;
}
