import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { systemClock, type Caller } from "../../engine/index.ts";
import {
  getAuthorizationCredentials,
  assertValidScopes,
  REALM,
  toCallerFromIdentity,
  authorizeScopes,
  type AuthScheme,
} from "./auth-scheme.ts";
import { computeSaltedDigest } from "./salted-digest.ts";
import { PasswordCheckQueue, WrongPasswordPenalties } from "./password-check-queue.ts";
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

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

/**
 * Parameters of scrypt. With these parameters, a password hash takes about 0.1 s and 16 MiB of memory. These
 * scrypt parameters are the second choice that OWASP recommends. The first choice that OWASP recommends needs
 * 128 MiB of memory.
 */
const SCRYPT_PARAMETERS = { N: 2 ** 14, r: 8, p: 5 };
const DIGEST_BYTES = 32;
/** Returns a password hash for the `basic` scheme, in the format `scrypt$N$r$p$salt$digest`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { N, r, p } = SCRYPT_PARAMETERS;
  const digest = await deriveScryptKey(password, salt, SCRYPT_PARAMETERS);
  return ["scrypt", N, r, p, salt.toString("base64url"), digest.toString("base64url")].join("$");
}

/**
 * A parsed password hash. The constructor throws an error if the text is not a password hash from
 * `hashPassword`.
 */
class PasswordHash {
  readonly #cost: typeof SCRYPT_PARAMETERS;
  readonly #salt: Buffer;
  readonly #digest: Buffer;

  constructor(text: string) {
    const [kind, N, r, p, salt = "", digest = ""] = text.split("$");
    this.#cost = { N: Number(N), r: Number(r), p: Number(p) };
    this.#salt = Buffer.from(salt, "base64url");
    this.#digest = Buffer.from(digest, "base64url");
    const { r: width, p: parallelism } = this.#cost;
    const isBounded = this.#cost.N <= 2 ** 20 && width <= 32 && parallelism <= 32;
    if (kind !== "scrypt" || !isBounded || this.#salt.length < 8 || this.#digest.length !== DIGEST_BYTES) {
      throw new Error("The password hash is not valid; generate it with hashPassword(…).");
    }
  }

  async matches(password: string): Promise<boolean> {
    return timingSafeEqual(await deriveScryptKey(password, this.#salt, this.#cost), this.#digest);
  }
}

function deriveScryptKey(password: string, salt: Buffer, cost: typeof SCRYPT_PARAMETERS): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: 256 * cost.N * cost.r };
    scrypt(password.normalize("NFC"), salt, DIGEST_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
