import type { Caller, ContextScope } from "../../engine/index.ts";
import type { JwtClaims } from "../../wire/keys/index.ts";

/** Value of `typ` in the header of context tokens. Other tokens with the same key are no context tokens. */
export const CONTEXT_TOKEN_TYPE = "colloquy-context+jwt";
/** Maximum lifetime of a context token in seconds. */
export const MAX_CONTEXT_TOKEN_SECONDS = 3600;
/** Maximum number of contexts in a context token. Servers accept headers of at least 8 KiB. */
export const MAX_CONTEXTS_PER_TOKEN = 50;

/** The caller and the contexts of a context token. */
export interface ContextTokenGrant {
  readonly principal: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly contextScope: ContextScope;
}

/** Encodes a grant as the claims of a token. */
export function encodeContextTokenClaims({
  principal,
  tenant,
  scopes,
  contextScope: { contextIds, namespace, agentIds },
}: ContextTokenGrant): JwtClaims {
  return {
    sub: principal,
    contexts: [...contextIds],
    ...(tenant === "" ? {} : { tenant }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    ...(namespace === undefined ? {} : { context_namespace: namespace }),
    ...(agentIds === undefined ? {} : { agents: [...agentIds] }),
  };
}

/** Returns the caller of a verified token, or `undefined` if a claim has the wrong type. */
export function decodeContextTokenClaims(claims: JwtClaims): Caller | undefined {
  const { sub, tenant = "", scope = "", contexts, context_namespace: namespace, agents } = claims;
  if (typeof sub !== "string" || sub === "") return undefined;
  if (typeof tenant !== "string" || typeof scope !== "string") return undefined;
  if (!isTextList(contexts) || (agents !== undefined && !isTextList(agents))) return undefined;
  if (namespace !== undefined && !isContextNamespace(namespace)) return undefined;
  return {
    tenant,
    principal: sub,
    scopes: scope.split(" ").filter((name) => name !== ""),
    claims,
    contextScope: {
      contextIds: contexts,
      ...(namespace === undefined ? {} : { namespace }),
      ...(agents === undefined ? {} : { agentIds: agents }),
    },
  };
}

/** A namespace contains no dot, because a dot separates the namespace from the rest of a context id. */
export function isContextNamespace(value: unknown): value is string {
  return typeof value === "string" && /^[\w-]{8,128}$/.test(value);
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
