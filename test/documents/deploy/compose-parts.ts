/** Starts the parts of `deploy/compose.yaml` without Docker: nodes, and Caddy with the file of the balancer. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findTestPort } from "../../support/test-ports.ts";
import { listNodeCommands, readRepositoryFile } from "./deploy-files.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const START_TIMEOUT_MS = 60_000;

export interface ComposeProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Kills the process, and resolves when it has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Returns the path of Caddy, or `undefined` if it is not installed. `COLLOQUY_CADDY` replaces the path. */
export function findCaddy(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [process.env["COLLOQUY_CADDY"] ?? "", ...folders.map((folder) => join(folder, "caddy"))];
  return candidates.find((path) => path !== "" && existsSync(path));
}

interface ComposeNodeOptions {
  readonly databaseUrl: string;
  /** Folder of agent files. */
  readonly agents: string;
  /** URL of the balancer. Default: the URL of the node. */
  readonly publicUrl?: string;
  readonly token: string;
}

/** Starts a node with the command of the compose file, on another port, database, and folder. */
export async function startComposeNode(options: ComposeNodeOptions): Promise<ComposeProcess> {
  const port = await findTestPort();
  const replacements: Record<string, string> = {
    "--host": "127.0.0.1",
    "--port": String(port),
    "--store": options.databaseUrl,
    "--public-url": options.publicUrl ?? `http://127.0.0.1:${port}`,
  };
  const { args } = listNodeCommands()[0]!;
  const replaced = args.map((arg) => {
    const [name = ""] = arg.split("=");
    if (arg === "agents") return options.agents;
    return name in replacements ? `${name}=${replacements[name]}` : arg;
  });
  const colloquy = ["--import", "./test/support/from-source.mjs", "bin/colloquy.js", ...replaced];
  const env = { ...process.env, COLLOQUY_TOKEN: options.token };
  const child = spawn(process.execPath, colloquy, { cwd: ROOT, env, stdio: "ignore" });
  return await waitUntilReady(child, `http://127.0.0.1:${port}`);
}

/** Starts Caddy with the file of the balancer, on a free port in front of `nodes`. */
export async function startComposeBalancer(
  caddy: string,
  port: number,
  nodes: readonly [ComposeProcess, ComposeProcess],
): Promise<ComposeProcess> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-caddy-"));
  const file = join(folder, "Caddyfile");
  const hosts = nodes.map(({ url }) => new URL(url).host);
  const text = readRepositoryFile("deploy/Caddyfile")
    .replace(":8080", `:${port}`)
    .replace("node-1:4120 node-2:4120", hosts.join(" "));
  writeFileSync(file, text);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(caddy, ["run", "--config", file, "--adapter", "caddyfile"], { env, stdio: "ignore" });
  child.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return await waitUntilReady(child, `http://127.0.0.1:${port}`);
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<ComposeProcess> {
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  for (const deadline = performance.now() + START_TIMEOUT_MS; ;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return { url, process: child, kill };
    if (child.exitCode !== null || performance.now() > deadline) {
      await kill();
      throw new Error(`${child.spawnargs.join(" ")} did not start: exit code ${child.exitCode}.`);
    }
    await pause(50);
  }
}
