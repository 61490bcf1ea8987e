import type { Caller } from "../../engine/index.ts";
import { computeSaltedDigest } from "./salted-digest.ts";
import { PasswordHash } from "./password-hash.ts";
import {
  parseAuthorizationHeader,
  assertValidScopes,
  REALM,
  toCaller,
  authorizeScopes,
  type AuthScheme,
} from "./auth-scheme.ts";

/** A user's password as `hashPassword` made it, alone or with more. */
export type BasicAuthUser =
  | string
  | {
      readonly hash: string;
      /** Default: the user's name. */
      readonly principal?: string;
      readonly tenant?: string;
      readonly scopes?: readonly string[];
    };

export interface BasicAuthOptions {
  /** By name. */
  readonly users: Readonly<Record<string, BasicAuthUser>>;
  /** Scopes that every request needs. */
  readonly requiredScopes?: readonly string[];
  /** In the card's `securitySchemes`. Default `basic`. */
  readonly schemeName?: string;
}

interface RegisteredUser {
  readonly caller: Caller;
  readonly passwordHash: PasswordHash;
  /** Digest of the password once it was right: the slow check is for guesses, not for every request. */
  verifiedDigest?: string;
}

/** `Authorization: Basic …` with names and passwords (RFC 7617). */
export function basic({
  users,
  schemeName: name = "basic",
  requiredScopes: required,
}: BasicAuthOptions): AuthScheme {
  const scopes = assertValidScopes(required);
  const known = new Map(Object.entries(users).map(([user, kept]) => [user, toRegisteredUser(user, kept)]));
  const somebody = known.values().next().value;
  if (!somebody) throw new Error(`basic needs at least one of "users".`);
  return {
    name,
    securityScheme: { httpAuthSecurityScheme: { scheme: "Basic" } },
    requiredScopes: scopes,
    buildChallenge: () => `Basic ${REALM}, charset="UTF-8"`,
    authenticate: async (credentials) => {
      const given = parseAuthorizationHeader(credentials, "basic");
      if (given === undefined) return undefined;
      const pair = decodeUserAndPassword(given);
      if (!pair) return "invalid";
      const digest = computeSaltedDigest(pair.password);
      const user = known.get(pair.user);
      if (user?.verifiedDigest === digest) return authorizeScopes(user.caller, scopes);
      // Also for a name that nobody has, so that the time does not tell.
      const holds = await (user ?? somebody).passwordHash.matches(pair.password);
      if (!user || !holds) return "invalid";
      user.verifiedDigest = digest;
      return authorizeScopes(user.caller, scopes);
    },
  };
}

function toRegisteredUser(user: string, kept: BasicAuthUser): RegisteredUser {
  if (user.includes(":"))
    throw new Error(`The user ${JSON.stringify(user)} can not have a colon in the name.`);
  const { hash, ...grant } = typeof kept === "string" ? { hash: kept } : kept;
  return { caller: toCaller({ principal: user, ...grant }), passwordHash: new PasswordHash(hash) };
}

function decodeUserAndPassword(text: string): { user: string; password: string } | undefined {
  if (!/^[A-Za-z0-9+/]+=*$/.test(text)) return undefined;
  const pair = Buffer.from(text, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
