import { setTimeout } from "node:timers/promises";
import type { WebhookValidator } from "../../engine/index.ts";
import type { AuthenticationInfo, FieldViolation } from "../../protocol/index.ts";
import { getBareHostname } from "./network-address.ts";
import { WebhookNotAllowedError, type WebhookUrlGuard } from "./webhook-url-guard.ts";

const MAX_ID_LENGTH = 256;
const MAX_SECRET_LENGTH = 8192;
/** A name that takes longer to resolve is judged when something is sent to it. */
const RESOLVE_TIMEOUT_MS = 1000;

/** RFC 9110 §5.6.2. */
const HTTP_TOKEN_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header's value may be made of: visible ASCII, with single spaces between. */
const HEADER_VALUE_PATTERN = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;

/** Judges a webhook when it is registered, as it will be judged again whenever something is sent to it (I-09). */
export function createWebhookValidator(guard: WebhookUrlGuard): WebhookValidator {
  return async ({ id = "", url, token, authentication }) => {
    const violations = authentication ? validateAuthentication(authentication) : [];
    if (id.length > MAX_ID_LENGTH)
      violations.push({ field: "id", description: `must have at most ${MAX_ID_LENGTH} characters` });
    if (token) violations.push(...validateSecret("token", token));
    const wrong = guard.findUrlViolation(url) ?? (await findHostViolation(guard, url));
    return wrong === undefined ? violations : [{ field: "url", description: wrong }, ...violations];
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

/** A secret travels in a header; one that would end the header, and begin another, does not. */
function validateSecret(field: string, secret: string): FieldViolation[] {
  if (secret.length <= MAX_SECRET_LENGTH && HEADER_VALUE_PATTERN.test(secret)) return [];
  const description = `must be at most ${MAX_SECRET_LENGTH} visible ASCII characters, because it travels in an HTTP header`;
  return [{ field, description }];
}

/** What the name stands for now. One that can not be resolved may be resolved later. */
async function findHostViolation(guard: WebhookUrlGuard, url: string): Promise<string | undefined> {
  const stop = new AbortController();
  const late = setTimeout(RESOLVE_TIMEOUT_MS, undefined, { signal: stop.signal, ref: false }).catch(
    () => undefined,
  );
  const judged = guard.resolveAllowedAddresses(getBareHostname(new URL(url))).then(
    () => undefined,
    (error: unknown) => (error instanceof WebhookNotAllowedError ? error.description : undefined),
  );
  try {
    return await Promise.race([judged, late]);
  } finally {
    stop.abort();
  }
}
