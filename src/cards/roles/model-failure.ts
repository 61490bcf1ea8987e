import { stripTrailingCharacters } from "../../protocol/index.ts";

/** Information about a failed model call. */
export interface ModelFailure {
  readonly message: string;
  /** HTTP status of the model provider's response, or `undefined` if there was no response. */
  readonly httpStatus: number | undefined;
  /** Time in milliseconds that the model provider asks to wait before the next call. */
  readonly retryAfterMs: number | undefined;
  /** Whether the same request can succeed later. */
  readonly isRetryable: boolean;
}

/**
 * Describes an error that a `RoleModel` threw. The function reads the members `httpStatus`, `status`, or
 * `statusCode`, and the members `retryAfterMs` and `isRetryable`, which the errors of most model SDKs have.
 */
export function describeModelFailure(thrown: unknown): ModelFailure {
  const members = (typeof thrown === "object" && thrown !== null ? thrown : {}) as Readonly<
    Record<string, unknown>
  >;
  const status = [members["httpStatus"], members["status"], members["statusCode"]].find(isHttpStatus);
  const { retryAfterMs, isRetryable } = members;
  const remedy = status === undefined ? undefined : REMEDIES_BY_STATUS[status];
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    message:
      remedy === undefined ? message : `${stripTrailingCharacters(message, ". \n\r\t")}. To do: ${remedy}.`,
    httpStatus: status,
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
    isRetryable:
      typeof isRetryable === "boolean"
        ? isRetryable
        : status === undefined
          ? isNetworkError(thrown)
          : isRetryableStatus(status),
  };
}

/** Maximum number of times that a role calls its model with one request. */
const MAX_MODEL_CALL_TRIES = 3;
const FIRST_RETRY_DELAY_MS = 2_000;
const MAX_RETRY_DELAY_MS = 60_000;

/**
 * Returns the time in milliseconds to wait before the next try, or `undefined` if the call must not be
 * repeated. `tries` is the number of tries so far. If the provider asks for more than one minute, the call is
 * not repeated.
 */
export function computeRetryDelay(
  { isRetryable, retryAfterMs }: ModelFailure,
  tries: number,
): number | undefined {
  if (!isRetryable || tries >= MAX_MODEL_CALL_TRIES) return undefined;
  const delayMs = retryAfterMs ?? FIRST_RETRY_DELAY_MS * 2 ** (tries - 1);
  return delayMs > MAX_RETRY_DELAY_MS ? undefined : delayMs;
}

/** Returns whether a request that was answered with this status can succeed later. */
export function isRetryableStatus(status: number): boolean {
  return status >= 500 || [408, 409, 425, 429].includes(status);
}

/**
 * Returns whether every request will fail with this status until the user corrects the key, the credit, or
 * the name of the model.
 */
export function isConfigurationStatus(status: number): boolean {
  return REMEDIES_BY_STATUS[status] !== undefined;
}

const REMEDIES_BY_STATUS: Readonly<Record<number, string>> = {
  401: "set a valid API key for the model",
  402: "add credit to the account of the API key",
  404: "correct the name of the model or the base URL of its server",
};

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}

/** `fetch` rejects with a `TypeError` if the server does not respond. */
function isNetworkError(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === "fetch failed";
}
