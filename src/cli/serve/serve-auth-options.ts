import { readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import {
  apiKeys,
  bearer,
  openIdConnect,
  type AuthScheme,
  type StoredApiKey,
} from "../../server/auth/index.ts";
import { appendValue } from "../client-options.ts";
import { CliError, createUsageError } from "../cli-error.ts";

/**
 * Authentication options of the `serve` command. No authentication option contains a secret, because other
 * users can see command lines.
 */
export interface ServeAuthOptions {
  authTokenEnv?: string[];
  bearerFile?: string;
  apiKeysFile?: string;
  oidcIssuer?: string;
  audience?: string[];
}

/** HTTP header that contains the API key. */
const API_KEY_HEADER = "X-API-Key";

export function addAuthOptions(command: Command): Command {
  return command
    .option(
      "--auth-token-env <name>",
      "variable with a bearer token; its name is the caller's name; repeatable",
      appendValue,
    )
    .option("--bearer-file <file>", "file of bearer tokens: one line per caller with name and token")
    .option("--api-keys-file <file>", "file of API keys, written by `colloquy auth new-key`")
    .option("--oidc-issuer <url>", "accept the access tokens (JWT) of this OpenID issuer")
    .option("--audience <name>", "audience of this server in the issuer's tokens; repeatable", appendValue);
}

/**
 * Creates the authentication schemes, or returns `undefined` if no option requires authentication. The
 * function reads environment variables and the token file only once.
 */
export function createAuthSchemes(
  options: ServeAuthOptions,
  env: NodeJS.ProcessEnv,
  now: () => number = Date.now,
): AuthScheme[] | undefined {
  const schemes = [
    createBearerScheme(options, env),
    createApiKeyScheme(options, now),
    createOpenIdScheme(options),
  ].filter((scheme) => scheme !== undefined);
  return schemes.length === 0 ? undefined : schemes;
}

/** Returns whether any option configures authentication. */
export function hasAuthOptions({
  authTokenEnv,
  bearerFile,
  apiKeysFile,
  oidcIssuer,
}: ServeAuthOptions): boolean {
  return [authTokenEnv, bearerFile, apiKeysFile, oidcIssuer].some((option) => option !== undefined);
}

/**
 * Renders the banner text that explains how callers authenticate. The banner text contains the variable names
 * of the client commands.
 */
export function describeClientCredentials(schemes: readonly AuthScheme[]): { hint: string; header: string } {
  const hasKeys = schemes.some(({ securityScheme }) => "apiKeySecurityScheme" in securityScheme);
  const hasTokens = schemes.some(({ securityScheme }) => !("apiKeySecurityScheme" in securityScheme));
  const names = [...(hasTokens ? ["A2ACLI_BEARER"] : []), ...(hasKeys ? ["A2ACLI_API_KEY"] : [])];
  const header = hasTokens ? "Authorization: Bearer $A2ACLI_BEARER" : `${API_KEY_HEADER}: $A2ACLI_API_KEY`;
  return { hint: `Callers must authenticate. First set ${names.join(" or ")} to your credentials.`, header };
}

function createBearerScheme(
  { authTokenEnv = [], bearerFile }: ServeAuthOptions,
  env: NodeJS.ProcessEnv,
): AuthScheme | undefined {
  if (authTokenEnv.length === 0 && bearerFile === undefined) return undefined;
  const tokens = new Map<string, string>();
  for (const name of authTokenEnv) {
    const token = env[name];
    if (!token) throw createUsageError(`The variable ${name} of --auth-token-env is not set.`);
    tokens.set(token, name);
  }
  if (bearerFile !== undefined) {
    for (const [index, line] of readTextFile(bearerFile).split("\n").entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      const [principal = "", token, ...rest] = line.trim().split(/\s+/);
      if (token === undefined || rest.length > 0) {
        throw createUsageError(
          `${bearerFile}:${index + 1} does not have the form "name token". Write one such line per caller.`,
        );
      }
      tokens.set(token, principal);
    }
  }
  return withUsageErrors(() => bearer({ tokens: Object.fromEntries(tokens) }));
}

function createApiKeyScheme({ apiKeysFile }: ServeAuthOptions, now: () => number): AuthScheme | undefined {
  if (apiKeysFile === undefined) return undefined;
  const file = new ApiKeyFile(apiKeysFile, now);
  const check = { in: "header", name: API_KEY_HEADER, keys: file.keys } as const;
  // Reports invalid keys at startup instead of at the first request.
  withUsageErrors(() => apiKeys(check));
  return apiKeys({ ...check, keys: (id) => file.find(id) });
}

function createOpenIdScheme({ oidcIssuer, audience }: ServeAuthOptions): AuthScheme | undefined {
  if (oidcIssuer === undefined && audience === undefined) return undefined;
  if (oidcIssuer === undefined || audience === undefined) {
    throw createUsageError(
      "--oidc-issuer and --audience must be used together. They name the accepted issuer and audience of tokens.",
    );
  }
  return withUsageErrors(() => openIdConnect({ issuer: oidcIssuer, audience }));
}

/** Path of a file with API keys. The file with API keys can change while the server runs. */
class ApiKeyFile {
  readonly #path: string;
  readonly #now: () => number;
  #checkedAt = 0;
  #fileVersion = "";
  #keys: ReadonlyMap<string, StoredApiKey> = new Map();

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
    this.#refresh();
  }

  get keys(): StoredApiKey[] {
    return [...this.#keys.values()];
  }

  find(id: string): StoredApiKey | undefined {
    if (this.#now() - this.#checkedAt >= 1000) this.#refresh();
    return this.#keys.get(id);
  }

  #refresh(): void {
    const { mtimeMs, size, ino } = requireFileStats(this.#path);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (version !== this.#fileVersion)
      this.#keys = new Map(readApiKeyFile(this.#path).map((key) => [key.id, key]));
    this.#fileVersion = version;
    this.#checkedAt = this.#now();
  }
}

/** Reads the API keys from a file. */
export function readApiKeyFile(path: string): StoredApiKey[] {
  try {
    const keys: unknown = JSON.parse(readTextFile(path));
    if (Array.isArray(keys)) return keys as StoredApiKey[];
  } catch (error) {
    if (error instanceof CliError) throw error;
  }
  throw createUsageError(
    `${path} has no JSON list of keys. Create it with colloquy auth new-key --file ${path}.`,
  );
}

/** Reads a file with credentials. Throws a usage error if the file cannot be read. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw createUnreadableAuthFileError(path, error);
  }
}

function requireFileStats(path: string): { mtimeMs: number; size: number; ino: number } {
  try {
    return statSync(path);
  } catch (error) {
    throw createUnreadableAuthFileError(path, error);
  }
}

function createUnreadableAuthFileError(path: string, error: unknown): CliError {
  return createUsageError(
    `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** Converts errors from invalid scheme options to usage errors. */
function withUsageErrors(make: () => AuthScheme): AuthScheme {
  try {
    return make();
  } catch (error) {
    throw createUsageError(error instanceof Error ? error.message : String(error));
  }
}
