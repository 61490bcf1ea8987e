import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isObject, parseJsonOrUndefined } from "../../protocol/index.ts";
import type { OAuthClientIdentity, OAuthEndpoint } from "../../client/index.ts";
import { createUsageError } from "../cli-error.ts";
import type { LoginFlow } from "./login-plan.ts";

/** The token of a login, and what a new token requires. The token is sent only to `origin`. */
export interface StoredLogin {
  readonly origin: string;
  /** Name of the security scheme in the agent card. */
  readonly scheme: string;
  readonly tokenEndpoint: OAuthEndpoint;
  readonly client: OAuthClientIdentity;
  readonly scopes: readonly string[];
  readonly flow: LoginFlow;
  readonly accessToken: string;
  /** Time in milliseconds since 1970 at which the token is renewed. `null` if the server has not named the time. */
  readonly expiresAt: number | null;
  readonly refreshToken: string | null;
}

/**
 * Reads the logins. Throws if other users can read the file or own it, because they could then use the tokens or replace
 * them.
 */
export function readLogins(file: string): StoredLogin[] {
  const text = readPrivateFile(file);
  if (text === undefined) return [];
  const json = parseJsonOrUndefined(text);
  const logins: unknown = isObject(json) && json["version"] === 1 ? json["logins"] : undefined;
  if (Array.isArray(logins) && logins.every(isStoredLogin)) return logins;
  throw createUsageError(
    `${file} contains no logins of this version of colloquy.`,
    "Delete it, and log in again.",
  );
}

function readPrivateFile(file: string): string | undefined {
  let descriptor;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw createUsageError(`${file} cannot be read.`, undefined, error);
  }
  try {
    // Checks the open file, because the path could name another file later.
    const { mode, uid } = fstatSync(descriptor);
    // Windows has no such modes, and the folder of a user is private.
    if (process.getuid && ((mode & 0o077) !== 0 || uid !== process.getuid()))
      throw createUsageError(
        `Others can read or change the tokens in ${file}, so they are not used.`,
        `chmod 600 ${file}`,
      );
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces the logins. The change applies to the current content, because several commands can run at the same time. */
export function updateLogins(file: string, change: (logins: StoredLogin[]) => readonly StoredLogin[]): void {
  const logins = change(readLogins(file));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporaryFile = `${file}.${randomUUID()}`;
  const json = JSON.stringify({ version: 1, logins }, null, 2);
  writeFileSync(temporaryFile, `${json}\n`, { mode: 0o600, flag: "wx" });
  renameSync(temporaryFile, file);
}

export function isSameLogin(login: StoredLogin, other: Pick<StoredLogin, "origin" | "scheme">): boolean {
  return login.origin === other.origin && login.scheme === other.scheme;
}

function isStoredLogin(value: unknown): value is StoredLogin {
  if (!isObject(value)) return false;
  const { origin, scheme, flow, tokenEndpoint, client, scopes, accessToken, expiresAt, refreshToken } = value;
  return (
    [origin, scheme, flow, accessToken].every((text) => typeof text === "string") &&
    isObject(tokenEndpoint) &&
    typeof tokenEndpoint["url"] === "string" &&
    isObject(client) &&
    typeof client["id"] === "string" &&
    ["string", "undefined"].includes(typeof client["secret"]) &&
    Array.isArray(scopes) &&
    (expiresAt === null || typeof expiresAt === "number") &&
    (refreshToken === null || typeof refreshToken === "string")
  );
}
