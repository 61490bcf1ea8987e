/** Runs PgBouncer in transaction mode in front of a PostgreSQL server. */
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { findTestPort } from "../../../test/support/test-ports.ts";
import { NOBODY_UID, runTestSql } from "./postgres-server.fixture.ts";

const START_TIMEOUT_MS = 10_000;

export interface TestPgBouncer {
  /** Returns the URL of a database through PgBouncer. */
  toPooledUrl(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Returns the path of the program, or `undefined` if PgBouncer is not installed. `COLLOQUY_PGBOUNCER` replaces the path. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  const candidates = folders.map((folder) => join(folder, "pgbouncer"));
  return [process.env["COLLOQUY_PGBOUNCER"] ?? "", ...candidates].find(
    (path) => path !== "" && existsSync(path),
  );
}

/**
 * Starts PgBouncer for all databases of a server. Two connections to PostgreSQL serve all clients of a database, so that
 * consecutive statements of a client use different connections.
 */
export async function startTestPgBouncer(program: string, serverUrl: string): Promise<TestPgBouncer> {
  const { hostname, port } = new URL(serverUrl);
  const listenPort = await findTestPort();
  const folder = mkdtempSync(join(tmpdir(), "colloquy-pgbouncer-"));
  chmodSync(folder, 0o755);
  const configFile = join(folder, "pgbouncer.ini");
  writeFileSync(
    configFile,
    `[databases]
* = host=${hostname} port=${port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 500
`,
  );
  const isRoot = process.getuid?.() === 0;
  const options = { stdio: "ignore" as const, ...(isRoot ? { uid: NOBODY_UID, gid: NOBODY_UID } : {}) };
  const child: ChildProcess = spawn(program, ["-q", configFile], options);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const toPooledUrl = (databaseUrl: string): string =>
    Object.assign(new URL(databaseUrl), { hostname: "127.0.0.1", port: String(listenPort) }).href;
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  };
  for (const deadline = performance.now() + START_TIMEOUT_MS; ;) {
    try {
      await runTestSql(toPooledUrl(serverUrl), "SELECT 1");
      return { toPooledUrl, stop };
    } catch (error) {
      if (child.exitCode === null && performance.now() < deadline) await pause(20);
      else {
        await stop();
        throw new Error(`PgBouncer did not start: ${program} ${configFile}`, { cause: error });
      }
    }
  }
}
