import { setTimeout } from "node:timers/promises";
import type { WebhookValidator } from "../../webhooks/index.ts";
import { A2AError, type AuthenticationInfo, type FieldViolation } from "../../protocol/index.ts";
import { getBareHostname } from "./allowed-host-list.ts";
import { WebhookNotAllowedError, type WebhookUrlGuard } from "./webhook-url-guard.ts";

const MAX_PUSH_CONFIG_ID_LENGTH = 256;
const MAX_SECRET_LENGTH = 8192;
/**
 * Timeout in milliseconds for the DNS lookup when a caller registers a webhook. If the lookup times out, the
 * server checks the webhook's host only at delivery.
 */
const RESOLVE_TIMEOUT_MS = 1000;

const HTTP_TOKEN_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * Pattern of valid header values. A header value consists of visible ASCII characters, with single spaces
 * between words.
 */
const HEADER_VALUE_PATTERN = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;

/** The checks of a webhook's URL. Without `resolveAllowedAddresses`, the addresses of its host are not checked. */
type WebhookUrlChecks = Pick<WebhookUrlGuard, "findUrlViolation"> &
  Partial<Pick<WebhookUrlGuard, "resolveAllowedAddresses">>;

/**
 * Creates a function that validates a webhook when a caller registers it. The server checks the URL of the
 * webhook again at each delivery (I-09).
 */
export function createWebhookValidator(guard: WebhookUrlChecks): WebhookValidator {
  return async ({ id = "", url, token, authentication }, owner) => {
    const violations = authentication ? validateAuthentication(authentication) : [];
    if (id.length > MAX_PUSH_CONFIG_ID_LENGTH)
      violations.push({
        field: "id",
        description: `must have at most ${MAX_PUSH_CONFIG_ID_LENGTH} characters`,
      });
    if (token) violations.push(...validateSecret("token", token));
    const urlViolation = guard.findUrlViolation(url) ?? (await findHostViolation(guard, url, owner));
    return urlViolation === undefined
      ? violations
      : [{ field: "url", description: urlViolation }, ...violations];
  };
}

function validateAuthentication({ scheme, credentials }: AuthenticationInfo): FieldViolation[] {
  const violations = credentials ? validateSecret("authentication.credentials", credentials) : [];
  if (!HTTP_TOKEN_PATTERN.test(scheme)) {
    const description = `must be the name of an HTTP authentication scheme, such as "Bearer"`;
    violations.push({ field: "authentication.scheme", description });
  }
  return violations;
}

/** Checks that a secret is a valid header value. A line break in a secret could start another header. */
function validateSecret(field: string, secret: string): FieldViolation[] {
  if (secret.length <= MAX_SECRET_LENGTH && HEADER_VALUE_PATTERN.test(secret)) return [];
  const description = `must be at most ${MAX_SECRET_LENGTH} visible ASCII characters, because it is sent in an HTTP header`;
  return [{ field, description }];
}

/**
 * Returns the reason why the current addresses of a host are not allowed. Returns `undefined` if all
 * addresses are allowed, or if the host cannot be resolved. Rejects if the owner has too many pending lookups.
 */
async function findHostViolation(
  guard: WebhookUrlChecks,
  url: string,
  owner: string,
): Promise<string | undefined> {
  if (!guard.resolveAllowedAddresses) return undefined;
  const stop = new AbortController();
  const timeout = setTimeout(RESOLVE_TIMEOUT_MS, undefined, { signal: stop.signal, ref: false }).catch(
    () => undefined,
  );
  const checked = guard.resolveAllowedAddresses(getBareHostname(new URL(url)), owner).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof WebhookNotAllowedError) return error.description;
      // The caller has too many lookups. Other errors may be temporary, and the server repeats the check at delivery.
      if (error instanceof A2AError) throw error;
      return undefined;
    },
  );
  try {
    return await Promise.race([checked, timeout]);
  } finally {
    stop.abort();
  }
}
