import {
  createChildContext,
  createRootContext,
  type FillRandomBytes,
  formatTraceparent,
  parseTraceparent,
} from "../../protocol/index.ts";

/**
 * Returns the W3C `traceparent` of a new child span of `parent`. If `parent` is missing or invalid, the span
 * starts a new trace.
 */
export function createChildTraceparent(
  parent?: string,
  fillRandom: FillRandomBytes = (bytes) => crypto.getRandomValues(bytes),
): string {
  const context = parseTraceparent(parent);
  return formatTraceparent(
    context ? createChildContext(context, fillRandom) : createRootContext(true, fillRandom),
  );
}

/**
 * Returns whether a value is a valid W3C `traceparent`. The W3C specification forbids trace IDs and span IDs
 * that consist of zeros only.
 */
export function isTraceparent(value: unknown): value is string {
  return typeof value === "string" && parseTraceparent(value) !== undefined;
}
