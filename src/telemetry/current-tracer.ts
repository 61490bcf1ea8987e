import { fillFromRandomPool } from "../protocol/index.ts";
import { PropagatingTracer, type Tracer } from "./tracer.ts";

/**
 * The key under which every copy of `@opentelemetry/api` 1.x stores the providers of the process. The key shows that a
 * provider is registered, without loading the package.
 */
const OPENTELEMETRY_GLOBAL: symbol = Symbol.for("opentelemetry.js.api.1");

/** OpenTelemetry has one provider for each process, so the process also has one tracer. */
let currentTracer: Tracer | undefined;
let propagatingTracer: Tracer | undefined;

/** Returns the tracer of the process. By default, its spans only have ids, which the next process receives. */
export function getTracer(): Tracer {
  propagatingTracer ??= new PropagatingTracer(fillFromRandomPool);
  return currentTracer ?? propagatingTracer;
}

/** Sets the tracer for all further spans of the process. The value `undefined` restores the default. */
export function setTracer(tracer: Tracer | undefined): void {
  currentTracer = tracer;
}

/** Returns whether the program has registered a provider of spans (`trace`) or of metrics, or a context manager. */
export function isProviderRegistered(kind: "trace" | "metrics" | "context"): boolean {
  const registered: unknown = Reflect.get(globalThis, OPENTELEMETRY_GLOBAL);
  return typeof registered === "object" && registered !== null && kind in registered;
}
