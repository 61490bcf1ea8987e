import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, realpathSync, statfsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import {
  isPrefixedSecret,
  PREFIXED_SECRET,
  PRIVATE_KEY_BEGINNING,
  redactUserInfo,
} from "../../observe/logging/index.ts";
import { createServer } from "../../server/index.ts";
import { isPostgresUrl, planPostgresMigration, PostgresStore } from "../../stores/index.ts";
import {
  type Check,
  type CheckGroup,
  classifyHost,
  defineRules,
  type Diagnosis,
  fail,
  NotVerified,
  runChecks,
  warn,
} from "../../studio/judge/index.ts";
import { getPackageFolder } from "../package-version.ts";
import { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import { isConfigAgentPathList } from "../serve/apply-config-file.ts";
import { loadAgentFiles } from "../serve/load-agent-files.ts";
import { getStoreFile, listSecretFiles, type Project, readProject } from "./project.ts";

/** Checks of Node.js and of the installed packages. */
const INSTALL_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  "PROJECT-NODE"({ folder }) {
    for (const owner of [getPackageFolder(), folder]) {
      const { name = owner, engines } = readPackageJson(owner);
      if (engines?.["node"] !== undefined && !satisfiesRange(process.versions.node, engines["node"]))
        fail(`Node.js ${process.versions.node} is not in ${engines["node"]}, which ${name} requires.`);
    }
    return `Node.js ${process.versions.node}.`;
  },
  "PROJECT-PEERS"(project) {
    const peers = listPeers(project);
    const wrong = peers.filter(({ version, range }) => !satisfiesRange(version, range));
    if (wrong.length > 0)
      fail(wrong.map(({ name, version, range }) => `${name} ${version} is not in ${range}.`).join(" "));
    return `${peers.map(({ name, version }) => `${name} ${version}`).join(", ") || "None of them is installed"}.`;
  },
  "PROJECT-COPIES"(project) {
    const peers = listPeers(project);
    const doubled = peers.flatMap(({ name, folder }) => {
      const other = findPackage(project.folder, name);
      return other === undefined || other === folder ? [] : [`${name} is in ${folder} and in ${other}.`];
    });
    if (doubled.length > 0) fail(doubled.join(" "));
    const own = realpathSync(getPackageFolder());
    const installed = findPackage(project.folder, "colloquy") ?? own;
    if (installed !== own) warn(`The project uses Colloquy in ${installed}, and this command is in ${own}.`);
    return `Colloquy and ${peers.length} packages have one copy.`;
  },
});

/** Lists the installed peers as the copy of Colloquy of the project sees them. */
function listPeers({ folder }: Project): Record<"name" | "range" | "version" | "folder", string>[] {
  const colloquy = findPackage(folder, "colloquy") ?? getPackageFolder();
  return Object.entries(readPackageJson(colloquy).peerDependencies ?? {}).flatMap(([name, range]) => {
    const found = findPackage(colloquy, name);
    return found === undefined
      ? []
      : [{ name, range, folder: found, version: readPackageJson(found).version ?? "0" }];
  });
}

/** Finds a package as Node.js does from a folder. */
function findPackage(from: string, name: string): string | undefined {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return realpathSync(folder);
  return dirname(from) === from ? undefined : findPackage(dirname(from), name);
}

type PackageJson = Partial<
  Record<"name" | "version", string> & Record<"engines" | "peerDependencies", Record<string, string>>
>;

function readPackageJson(folder: string): PackageJson {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as PackageJson) : {};
}

/**
 * Returns whether a version is in a range of npm. The function knows the forms that package.json of this package has:
 * `^`, `>=`, `<`, and exact versions, spaces for and, and `||` for or. A pre-release counts as its release.
 */
export function satisfiesRange(version: string, range: string): boolean {
  return range.split("||").some((part) =>
    part
      .trim()
      .split(/\s+/)
      .every((bound) => satisfiesBound(version, bound)),
  );
}

function satisfiesBound(version: string, bound: string): boolean {
  const [operator = ""] = /^(?:\^|>=|<)?/.exec(bound) ?? [];
  const [found, wanted] = [toNumbers(version), toNumbers(bound.slice(operator.length))];
  const at = found.findIndex((number, index) => number !== wanted[index]);
  const order = at < 0 ? 0 : (found[at] ?? 0) - (wanted[at] ?? 0);
  if (operator === "<") return order < 0;
  // The numbers until the first that is not 0 must stay the same.
  const fixed = wanted.findIndex((number) => number > 0);
  return order >= 0 && (operator === ">=" || (operator === "^" ? at < 0 || at > fixed : at < 0));
}

function toNumbers(version: string): number[] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[-+]/, 1)[0]?.split(".").map(Number) ?? [];
  return [major, minor, patch];
}

const MAX_FILE_BYTES = 256 * 1024;
/** A shorter token of a server can be guessed. Shorter texts after the prefix of a token are names, such as `sk-button`. */
const MIN_TOKEN_LENGTH = 16;

/** Checks of what git tracks. */
const SECRET_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  "PROJECT-TRACKED-FILES"(project) {
    const { config, folder } = project;
    const store = getStoreFile(project);
    const named = [...listSecretFiles(project), store, config.record].flatMap((file) =>
      file === undefined ? [] : [relative(folder, file).replaceAll("\\", "/")],
    );
    const tracked = listTrackedFiles(folder);
    const wrong = tracked.filter(
      (file) =>
        named.some((name) => file === name || file.startsWith(`${name}-`) || file === `${name}.key`) ||
        (/(?:^|\/)\.env(?:\.|$)/.test(file) && !/example|sample|template|test/.test(file)),
    );
    if (wrong.length > 0) fail(`Git tracks ${wrong.join(", ")}.`);
    return `${tracked.length} tracked files.`;
  },
  "PROJECT-TRACKED-SECRETS"({ folder }) {
    const files = listTrackedFiles(folder);
    const found = files.filter((file) => hasSecret(join(folder, file)));
    if (found.length > 0) fail(`${found.slice(0, 10).join(", ")} contain what looks like a secret.`);
    return `${files.length} files searched.`;
  },
});

function listTrackedFiles(folder: string): string[] {
  try {
    const options = { cwd: folder, stdio: "pipe", maxBuffer: 2 ** 26 } as const;
    const files = execFileSync("git", ["ls-files", "-z"], options).toString();
    return files.split("\0").filter((file) => file !== "");
  } catch {
    throw new NotVerified("Git does not track this folder.");
  }
}

function hasSecret(file: string): boolean {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) return false;
    const text = readFileSync(file, "utf8");
    if (text.includes("\0")) return false;
    if (text.search(PRIVATE_KEY_BEGINNING) >= 0) return true;
    return [...text.matchAll(PREFIXED_SECRET)].some(
      ([, prefix = "", rest = ""]) =>
        rest.length >= MIN_TOKEN_LENGTH && /\d/.test(rest) && isPrefixedSecret(prefix, rest),
    );
  } catch {
    // A tracked file can be deleted, or be a link to a folder.
    return false;
  }
}

/** Checks of the agents, and of the settings of the server. */
const SERVER_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  async "PROJECT-AGENTS"({ agents: named, ignoredFiles }) {
    if (ignoredFiles.length > 0) warn(ignoredFiles.join(" "));
    if (Object.keys(named).length === 0)
      throw new NotVerified("No agent is configured. Pass the file of an agent.");
    const { agents, skipped } = isConfigAgentPathList(named)
      ? await loadAgentFiles(named, new AdkAgentFactory({ onError: () => {} })).catch((error: Error) =>
          fail(error.message),
        )
      : { agents: named, skipped: [] };
    await createServer(agents, { store: "memory", observer: false }).close();
    return skipped.length > 0 ? warn(skipped.join(" ")) : `${Object.keys(agents).join(", ")}.`;
  },
  "PROJECT-AUTH"({ isExposed, hasAuth }) {
    if (hasAuth) return "Callers authenticate.";
    if (isExposed) warn("Each caller can use the agents without credentials.");
    return "Only this machine reaches the agents.";
  },
  "PROJECT-TOKENS"({ config: { authTokenEnv = [] }, env }) {
    for (const name of authTokenEnv) {
      const { length } = env[name] ?? "";
      if (length === 0) warn(`In this environment, ${name} is not set.`);
      if (length < MIN_TOKEN_LENGTH)
        fail(`The token of ${name} has fewer than ${MIN_TOKEN_LENGTH} characters.`);
    }
    return `${authTokenEnv.length} tokens of variables.`;
  },
  "PROJECT-PUBLIC-URL"({ isExposed, config: { publicUrl } }) {
    if (isExposed && publicUrl === undefined)
      warn("The cards have the origin of each request, which is HTTP behind a proxy that ends TLS.");
    const { protocol, hostname } = URL.parse(publicUrl ?? "http://localhost") ?? {
      protocol: "",
      hostname: "",
    };
    if (protocol !== "https:" && classifyHost(hostname) === "public") fail(`${publicUrl} is no HTTPS URL.`);
    return publicUrl ?? "The cards have the origin of each request.";
  },
  "PROJECT-WEBHOOKS"({ config: { allowPrivateWebhooks }, isExposed }) {
    if (allowPrivateWebhooks && isExposed) warn("Callers can name webhooks in the network of the server.");
    return allowPrivateWebhooks ? "Only this machine names webhooks." : "The server refuses them.";
  },
  "PROJECT-RECORD"({ config: { record }, isExposed, env }) {
    if (record !== undefined && (isExposed || env["NODE_ENV"] === "production"))
      warn(`The server records the messages of users in ${record}.`);
    return record ?? "No record.";
  },
});

const MIN_FREE_BYTES = 200 * 2 ** 20;
/** File systems of networks, on which SQLite loses data: NFS, CIFS, SMB2, and SMB. */
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x69_69, 0xff_53_4d_42, 0xfe_53_4d_42, 0x51_7b]);

/** Checks of the task store. */
const STORE_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  "PROJECT-STORE"({ config: { store = "sqlite:.colloquy/colloquy.db", role = "all" } }) {
    if (role !== "all" && !isPostgresUrl(store)) fail(`The role ${role} requires a postgres:// store.`);
    if (store === "memory") warn("The store memory forgets all tasks.");
    return redactUserInfo(store);
  },
  "PROJECT-STORE-FOLDER"(project) {
    const file = getStoreFile(project);
    if (file === undefined) throw new NotVerified("The store is no SQLite file.");
    const folder = findExistingFolder(dirname(file));
    try {
      accessSync(folder, constants.W_OK);
    } catch {
      fail(`${folder} is not writable.`);
    }
    const { type, bavail, bsize } = statfsSync(folder);
    if (NETWORK_FILE_SYSTEMS.has(type)) fail(`${folder} is on a network, where locks of SQLite do not work.`);
    const seen = `${folder} has ${Math.round((bavail * bsize) / 2 ** 20)} MiB of free space.`;
    return bavail * bsize < MIN_FREE_BYTES ? warn(seen) : seen;
  },
  "PROJECT-FILE-MODES"(project) {
    if (process.platform === "win32") throw new NotVerified("Windows has no file modes.");
    const store = getStoreFile(project);
    const files = [
      ...["", "-wal", ".key", "-console-secret"].map((suffix) => `${store}${suffix}`),
      ...listSecretFiles(project),
    ].filter((file) => existsSync(file));
    const open = files.filter((file) => (statSync(file).mode & 0o077) !== 0);
    if (open.length > 0) fail(`Other users of this machine have access to ${open.join(", ")}.`);
    return `${files.length} files.`;
  },
  async "PROJECT-DATABASE"({ config }) {
    const { fromVersion, toVersion, script } = await planPostgresMigration(requirePostgresUrl(config)).catch(
      (error: Error) => fail(error.message),
    );
    if (script !== undefined) warn(`The schema is ${fromVersion}. A server migrates it to ${toVersion}.`);
    return `The schema is ${toVersion}.`;
  },
  async "PROJECT-HINTS"({ config, allowsMore }) {
    const url = requirePostgresUrl(config);
    if (!allowsMore) throw new NotVerified("The check registers as a server for a moment. Pass --yes.");
    const store = new PostgresStore(url, { migrate: false, poolSize: 2 });
    try {
      await store.open().catch((error: Error) => fail(error.message));
      const { hints } = store.nodes;
      const unsupported = await new Promise<string | undefined>((resolve) => {
        hints?.onHint(() => hints.isReceiving && resolve(undefined));
        hints?.onUnsupported?.(resolve);
      });
      if (unsupported !== undefined) warn(unsupported);
      return "A notification of another connection arrived.";
    } finally {
      await store.close();
    }
  },
});

function requirePostgresUrl({ store = "" }: Project["config"]): string {
  if (!isPostgresUrl(store)) throw new NotVerified("The store is no PostgreSQL database.");
  return store;
}

function findExistingFolder(folder: string): string {
  return existsSync(folder) ? folder : findExistingFolder(dirname(folder));
}

const PROJECT_CHECKS: readonly CheckGroup<Project>[] = [
  { name: "Installation", checks: INSTALL_CHECKS },
  { name: "Agents and settings", checks: SERVER_CHECKS },
  { name: "Task store", checks: STORE_CHECKS },
  { name: "Secrets", checks: SECRET_CHECKS },
];

/** Reads and examines a project without starting its server. The agent files are loaded. */
export async function examineProject(
  ...input: Parameters<typeof readProject>
): Promise<readonly Diagnosis[]> {
  const project = await readProject(...input);
  return await runChecks(PROJECT_CHECKS, () => project);
}
