import { setTimeout } from "node:timers/promises";
import type { CheckWebhook } from "../../engine/index.ts";
import type { AuthenticationInfo, FieldViolation } from "../../protocol/index.ts";
import { bareHost } from "./address.ts";
import { NotAllowed, type Guard } from "./guard.ts";

const MAX_ID = 256;
const MAX_SECRET = 8192;
/** A name that takes longer to resolve is judged when something is sent to it. */
const RESOLVE_MS = 1000;

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header's value may be made of: visible ASCII, with single spaces between. */
const HEADER_VALUE = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;

/** Judges a webhook when it is registered, as it will be judged again whenever something is sent to it (I-09). */
export function checkWebhook(guard: Guard): CheckWebhook {
  return async ({ id = "", url, token, authentication }) => {
    const violations = authentication ? checkAuthentication(authentication) : [];
    if (id.length > MAX_ID)
      violations.push({ field: "id", description: `must have at most ${MAX_ID} characters` });
    if (token) violations.push(...checkSecret("token", token));
    const wrong = guard.checkUrl(url) ?? (await checkName(guard, url));
    return wrong === undefined ? violations : [{ field: "url", description: wrong }, ...violations];
  };
}

function checkAuthentication({ scheme, credentials }: AuthenticationInfo): FieldViolation[] {
  const violations = credentials ? checkSecret("authentication.credentials", credentials) : [];
  if (!TOKEN.test(scheme)) {
    const description = `must be the name of an HTTP authentication scheme, such as "Bearer"`;
    violations.push({ field: "authentication.scheme", description });
  }
  return violations;
}

/** A secret travels in a header; one that would end the header, and begin another, does not. */
function checkSecret(field: string, secret: string): FieldViolation[] {
  if (secret.length <= MAX_SECRET && HEADER_VALUE.test(secret)) return [];
  const description = `must be at most ${MAX_SECRET} visible ASCII characters, because it travels in an HTTP header`;
  return [{ field, description }];
}

/** What the name stands for now. One that can not be resolved may be resolved later. */
async function checkName(guard: Guard, url: string): Promise<string | undefined> {
  const stop = new AbortController();
  const late = setTimeout(RESOLVE_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
  const judged = guard.addressesOf(bareHost(new URL(url))).then(
    () => undefined,
    (error: unknown) => (error instanceof NotAllowed ? error.description : undefined),
  );
  try {
    return await Promise.race([judged, late]);
  } finally {
    stop.abort();
  }
}
