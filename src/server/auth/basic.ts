import type { Caller } from "../../engine/index.ts";
import { privateDigest } from "./digest.ts";
import { PasswordHash } from "./password.ts";
import { authorization, checkScopes, REALM, toCaller, withScopes, type AuthScheme } from "./scheme.ts";

/** A user's password as `hashPassword` made it, alone or with more. */
export type BasicUser =
  | string
  | {
      readonly hash: string;
      /** Default: the user's name. */
      readonly principal?: string;
      readonly tenant?: string;
      readonly scopes?: readonly string[];
    };

export interface BasicOptions {
  /** By name. */
  readonly users: Readonly<Record<string, BasicUser>>;
  /** Scopes that every request needs. */
  readonly scopes?: readonly string[];
  /** In the card's `securitySchemes`. Default `basic`. */
  readonly name?: string;
}

interface Known {
  readonly caller: Caller;
  readonly password: PasswordHash;
  /** Digest of the password once it was right: the slow check is for guesses, not for every request. */
  digest?: string;
}

/** `Authorization: Basic …` with names and passwords (RFC 7617). */
export function basic({ users, name = "basic", scopes: required }: BasicOptions): AuthScheme {
  const scopes = checkScopes(required);
  const known = new Map(Object.entries(users).map(([user, kept]) => [user, toKnown(user, kept)]));
  const somebody = known.values().next().value;
  if (!somebody) throw new Error(`basic needs at least one of "users".`);
  return {
    name,
    declared: { httpAuthSecurityScheme: { scheme: "Basic" } },
    scopes,
    challenge: () => `Basic ${REALM}, charset="UTF-8"`,
    find: async (credentials) => {
      const given = authorization(credentials, "basic");
      if (given === undefined) return undefined;
      const pair = decodePair(given);
      if (!pair) return "invalid";
      const digest = privateDigest(pair.password);
      const user = known.get(pair.user);
      if (user?.digest === digest) return withScopes(user.caller, scopes);
      // Also for a name that nobody has, so that the time does not tell.
      const holds = await (user ?? somebody).password.holds(pair.password);
      if (!user || !holds) return "invalid";
      user.digest = digest;
      return withScopes(user.caller, scopes);
    },
  };
}

function toKnown(user: string, kept: BasicUser): Known {
  if (user.includes(":"))
    throw new Error(`The user ${JSON.stringify(user)} can not have a colon in the name.`);
  const { hash, ...grant } = typeof kept === "string" ? { hash: kept } : kept;
  return { caller: toCaller({ principal: user, ...grant }), password: new PasswordHash(hash) };
}

function decodePair(text: string): { user: string; password: string } | undefined {
  if (!/^[A-Za-z0-9+/]+=*$/.test(text)) return undefined;
  const pair = Buffer.from(text, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
