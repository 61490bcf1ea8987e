import { readFileSync, statSync } from "node:fs";
import { Option, type Command } from "commander";
import {
  apiKeys,
  bearer,
  openIdConnect,
  type AuthScheme,
  type StoredApiKey,
} from "../../server/auth/index.ts";
import { Problem } from "../problem.ts";

/** Who may come in, as the command line says it. No secret stands on it: others see what runs on their machine. */
export interface AuthOptions {
  authTokenEnv?: string[];
  bearerFile?: string;
  apiKeysFile?: string;
  oidcIssuer?: string;
  audience?: string[];
}

/** The header of API keys. */
const KEY_HEADER = "X-API-Key";

const more = (value: string, previous: string[] = []): string[] => [...previous, value];

export function addAuthOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--auth-token-env <name>",
        "a variable with a bearer token, whose caller is named like it; repeatable",
      ).argParser(more),
    )
    .option("--bearer-file <file>", "bearer tokens: a line for each, with the caller's name and the token")
    .option("--api-keys-file <file>", "API keys, as `colloquy auth new-key` writes them")
    .option("--oidc-issuer <url>", "accept the access tokens (JWT) of this OpenID issuer")
    .addOption(
      new Option(
        "--audience <name>",
        "what the issuer calls this server, in its tokens; repeatable",
      ).argParser(more),
    );
}

/** How callers authenticate; undefined when nothing is said of it. Variables and the file of tokens are read once. */
export function authenticationOf(
  options: AuthOptions,
  env: NodeJS.ProcessEnv,
  now: () => number = Date.now,
): AuthScheme[] | undefined {
  const ways = [bearerTokens(options, env), keysOf(options, now), openId(options)].filter(
    (way) => way !== undefined,
  );
  return ways.length === 0 ? undefined : ways;
}

/** Whether the command line says anything of who may come in. */
export function hasAuthentication({
  authTokenEnv,
  bearerFile,
  apiKeysFile,
  oidcIssuer,
}: AuthOptions): boolean {
  return [authTokenEnv, bearerFile, apiKeysFile, oidcIssuer].some((option) => option !== undefined);
}

/** What callers are to send, for the banner; the variables are those that the client's commands read. */
export function sendingOf(ways: readonly AuthScheme[]): { hint: string; header: string } {
  const hasKeys = ways.some(({ declared }) => "apiKeySecurityScheme" in declared);
  const hasTokens = ways.some(({ declared }) => !("apiKeySecurityScheme" in declared));
  const names = [...(hasTokens ? ["A2ACLI_BEARER"] : []), ...(hasKeys ? ["A2ACLI_API_KEY"] : [])];
  const header = hasTokens ? "Authorization: Bearer $A2ACLI_BEARER" : `${KEY_HEADER}: $A2ACLI_API_KEY`;
  return { hint: `Callers authenticate; first put your own credentials into ${names.join(" or ")}.`, header };
}

function bearerTokens(
  { authTokenEnv = [], bearerFile }: AuthOptions,
  env: NodeJS.ProcessEnv,
): AuthScheme | undefined {
  if (authTokenEnv.length === 0 && bearerFile === undefined) return undefined;
  const tokens = new Map<string, string>();
  for (const name of authTokenEnv) {
    const token = env[name];
    if (!token) throw usage(`The variable ${name} of --auth-token-env is not set.`);
    tokens.set(token, name);
  }
  if (bearerFile !== undefined) {
    for (const [at, line] of read(bearerFile).split("\n").entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      const [principal = "", token, ...rest] = line.trim().split(/\s+/);
      if (token === undefined || rest.length > 0) {
        throw usage(`${bearerFile}:${at + 1} is not "name token"; give every caller a line of that form.`);
      }
      tokens.set(token, principal);
    }
  }
  return said(() => bearer({ tokens: Object.fromEntries(tokens) }));
}

function keysOf({ apiKeysFile }: AuthOptions, now: () => number): AuthScheme | undefined {
  if (apiKeysFile === undefined) return undefined;
  const file = new KeyFile(apiKeysFile, now);
  const check = { in: "header", name: KEY_HEADER, keys: file.keys } as const;
  // Tells of keys that are not as they should be before anybody comes.
  said(() => apiKeys(check));
  return apiKeys({ ...check, keys: (id) => file.find(id) });
}

function openId({ oidcIssuer, audience }: AuthOptions): AuthScheme | undefined {
  if (oidcIssuer === undefined && audience === undefined) return undefined;
  if (oidcIssuer === undefined || audience === undefined) {
    throw usage(
      "--oidc-issuer and --audience belong together: tokens are accepted of that issuer, for that audience.",
    );
  }
  return said(() => openIdConnect({ issuer: oidcIssuer, audience }));
}

/** A file of keys that may be added to, and taken from, while a server runs. */
class KeyFile {
  readonly #path: string;
  readonly #now: () => number;
  #readAt = 0;
  #version = "";
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
    if (this.#now() - this.#readAt >= 1000) this.#refresh();
    return this.#keys.get(id);
  }

  #refresh(): void {
    const { mtimeMs, size, ino } = stat(this.#path);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (version !== this.#version) this.#keys = new Map(readKeys(this.#path).map((key) => [key.id, key]));
    this.#version = version;
    this.#readAt = this.#now();
  }
}

/** The keys of a file. */
export function readKeys(path: string): StoredApiKey[] {
  try {
    const keys: unknown = JSON.parse(read(path));
    if (Array.isArray(keys)) return keys as StoredApiKey[];
  } catch (error) {
    if (error instanceof Problem) throw error;
  }
  throw usage(`${path} has no JSON list of keys; make it with colloquy auth new-key --file ${path}.`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
}

function stat(path: string): { mtimeMs: number; size: number; ino: number } {
  try {
    return statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Problem {
  return usage(`${path} can not be read: ${error instanceof Error ? error.message : String(error)}`);
}

/** What a scheme says is wrong with its options, as the user's. */
function said(make: () => AuthScheme): AuthScheme {
  try {
    return make();
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

function usage(message: string): Problem {
  return new Problem("A2ACLI_ERR_USAGE", message);
}
