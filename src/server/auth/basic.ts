import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { systemClock, type Caller } from "../../engine/index.ts";
import { computeSaltedDigest } from "./salted-digest.ts";
import { PasswordCheckQueue, WrongPasswordPenalties } from "./password-check-queue.ts";
import { PasswordHash } from "./password-hash.ts";
import {
  getAuthorizationCredentials,
  assertValidScopes,
  REALM,
  toCallerFromIdentity,
  authorizeScopes,
  type AuthScheme,
} from "./auth-scheme.ts";

/**
 * A user of the `basic` scheme. The value is a password hash from `hashPassword`, or an object with the hash
 * and the user's identity. The default principal is the user name.
 */
export type BasicAuthUser =
  | string
  | {
      readonly hash: string;
      readonly principal?: string;
      readonly tenant?: string;
      readonly scopes?: readonly string[];
    };

/** Options for `basic`. */
export interface BasicAuthOptions {
  /** Users of the `basic` scheme, by user name. */
  readonly users: Readonly<Record<string, BasicAuthUser>>;
  /** Scopes that every caller must have. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** Name of the authentication scheme in the agent card's `securitySchemes`. Default: `basic`. */
  readonly schemeName?: string;
}

const assertKnownOptions = defineOptionNames<BasicAuthOptions>()("basic", "requiredScopes schemeName users");

interface RegisteredBasicAuthUser {
  readonly caller: Caller;
  readonly passwordHash: PasswordHash;
  /**
   * Digest of the password. The digest is set after the first successful login. Later requests are verified
   * with the digest instead of the slow password hash.
   */
  verifiedDigest?: string;
}

/** Creates an authentication scheme for user names and passwords (HTTP Basic authentication, RFC 7617). */
export function basic(options: BasicAuthOptions): AuthScheme {
  assertKnownOptions(options);
  const { users, schemeName = "basic", requiredScopes } = options;
  const scopes = assertValidScopes(requiredScopes);
  const usersByName = new Map(
    Object.entries(users).map(([name, user]) => [name, toRegisteredBasicAuthUser(name, user)]),
  );
  const passwordChecks = new PasswordCheckQueue(new WrongPasswordPenalties(() => systemClock.monotonic()));
  const firstUser = usersByName.values().next().value;
  if (!firstUser) throw new Error(`"users" of basic is empty; add at least one user.`);
  return {
    name: schemeName,
    securityScheme: { httpAuthSecurityScheme: { scheme: "Basic" } },
    requiredScopes: scopes,
    buildChallenge: () => `Basic ${REALM}, charset="UTF-8"`,
    authenticate: async (request) => {
      const credentials = getAuthorizationCredentials(request, "basic");
      if (credentials === undefined) return undefined;
      const pair = decodeUserAndPassword(credentials);
      if (!pair) return "invalid";
      const digest = computeSaltedDigest(pair.password);
      const user = usersByName.get(pair.user);
      if (user?.verifiedDigest === digest) return authorizeScopes(user.caller, scopes);
      // An unknown user name must take the same time as a wrong password.
      const { passwordHash } = user ?? firstUser;
      const isCorrect = await passwordChecks.check(request.remoteAddress, `${pair.user}:${digest}`, () =>
        passwordHash.matches(pair.password),
      );
      if (!user || !isCorrect) return "invalid";
      user.verifiedDigest = digest;
      return authorizeScopes(user.caller, scopes);
    },
  };
}

function toRegisteredBasicAuthUser(name: string, user: BasicAuthUser): RegisteredBasicAuthUser {
  if (name.includes(":"))
    throw new Error(`The user name ${JSON.stringify(name)} contains a colon; use a name without one.`);
  const { hash, ...identity } = typeof user === "string" ? { hash: user } : user;
  return {
    caller: toCallerFromIdentity({ principal: name, ...identity }),
    passwordHash: new PasswordHash(hash),
  };
}

function decodeUserAndPassword(text: string): { user: string; password: string } | undefined {
  if (!/^[A-Za-z0-9+/]+=*$/.test(text)) return undefined;
  const pair = Buffer.from(text, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
