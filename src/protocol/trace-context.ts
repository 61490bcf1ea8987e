/**
 * Position in a distributed trace: a span, and the trace that contains the span. W3C Trace Context defines the headers
 * `traceparent` and `tracestate`, which carry the position from process to process.
 */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all 0. */
  readonly spanId: string;
  /** The flags of `traceparent`: bit 0 is `sampled`, and bit 1 states that the trace id is random. */
  readonly flags: number;
  /** The `tracestate` header, which participants forward unchanged. */
  readonly tracestate?: string | undefined;
}

/** Headers that carry a trace context. MCP carries the same members in `_meta`. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Fills the array with random bytes. */
export type FillRandomBytes = (bytes: Uint8Array<ArrayBuffer>) => unknown;

/** Flag of a trace that a participant may have recorded. */
const SAMPLED_FLAG = 1;
const RANDOM_TRACE_ID_FLAG = 2;
const KNOWN_FLAGS = SAMPLED_FLAG | RANDOM_TRACE_ID_FLAG;
/**
 * `version-traceid-spanid-flags`. Version ff and ids of zeros are invalid. Later versions than 00 may append members, so
 * that only version 00 has exactly 55 characters.
 */
const TRACEPARENT_PATTERN =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
/** W3C Trace Context requires participants to forward at least 512 characters. */
const MAX_TRACESTATE_LENGTH = 512;

/** Parses the header `traceparent`. Returns `undefined` if the header is missing or invalid. */
export function parseTraceparent(traceparent: string | null | undefined): TraceContext | undefined {
  if (typeof traceparent !== "string" || traceparent.length > MAX_TRACESTATE_LENGTH) return undefined;
  const [, traceId, spanId = "", flags = ""] = TRACEPARENT_PATTERN.exec(traceparent.trim()) ?? [];
  return traceId === undefined
    ? undefined
    : { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
}

/**
 * Parses the headers `traceparent` and `tracestate`. Returns `undefined` if `traceparent` is missing or invalid. A
 * `tracestate` that HTTP does not allow, or of more than 512 characters, is ignored.
 */
export function parseTraceContext(
  traceparent: string | null | undefined,
  tracestate?: string | null,
): TraceContext | undefined {
  const context = parseTraceparent(traceparent);
  const isForwarded = typeof tracestate === "string" && isValidTracestate(tracestate);
  return context && isForwarded ? { ...context, tracestate } : context;
}

function isValidTracestate(tracestate: string): boolean {
  return (
    tracestate !== "" && tracestate.length <= MAX_TRACESTATE_LENGTH && /^[\t\x20-\x7e]+$/.test(tracestate)
  );
}

/** Returns the `traceparent` header of a trace context. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags & KNOWN_FLAGS}`;
}

/** Returns the headers of a trace context. */
export function toTraceHeaders(context: TraceContext): TraceHeaders {
  const { tracestate } = context;
  return { traceparent: formatTraceparent(context), ...(tracestate === undefined ? {} : { tracestate }) };
}

/** Creates the context of a new span in the trace of `parent`. */
export function createChildContext(parent: TraceContext, fillRandom: FillRandomBytes): TraceContext {
  return { ...parent, spanId: generateHexId(8, fillRandom) };
}

/** Creates the context of the first span of a new trace. */
export function createRootContext(isSampled: boolean, fillRandom: FillRandomBytes): TraceContext {
  return {
    traceId: generateHexId(16, fillRandom),
    spanId: generateHexId(8, fillRandom),
    flags: isSampled ? SAMPLED_FLAG : 0,
  };
}

const POOL_SIZE = 1024;
let pool: Uint8Array<ArrayBuffer> | undefined;
let poolOffset = POOL_SIZE;

/**
 * Fills the array with random bytes of the platform. The function requests many bytes at once, because a request takes a
 * microsecond. `bytes` must not be longer than 1,024 bytes.
 */
export function fillFromRandomPool(bytes: Uint8Array<ArrayBuffer>): void {
  pool ??= new Uint8Array(POOL_SIZE);
  if (poolOffset + bytes.length > POOL_SIZE) {
    crypto.getRandomValues(pool);
    poolOffset = 0;
  }
  bytes.set(pool.subarray(poolOffset, poolOffset + bytes.length));
  poolOffset += bytes.length;
}

const HEX_BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/** Generates an id that is not 0, because 0 is invalid. */
function generateHexId(byteCount: number, fillRandom: FillRandomBytes): string {
  const bytes = new Uint8Array(byteCount);
  fillRandom(bytes);
  let id = "";
  for (const byte of bytes) id += HEX_BYTES[byte] ?? "";
  return ZEROS.test(id) ? `${id.slice(0, -1)}1` : id;
}
