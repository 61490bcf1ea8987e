import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readServerUrl } from "./measure-startup.ts";

const repositoryRoot = fileURLToPath(new URL("../../", import.meta.url));
const builtCliPath = join(repositoryRoot, "bin/colloquy.js");

/**
 * Checks a project created by `colloquy init` with the built package: it compiles, serves its agent, and
 * answers a message. Throws on a failure.
 */
export async function checkScaffold(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-init-"));
  const cwd = join(folder, "hello-there");
  runNode([builtCliPath, "init", "hello-there"], folder);
  const modules = join(cwd, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  for (const name of ["typescript", "@types/node"])
    symlinkSync(join(repositoryRoot, "node_modules", name), join(modules, name));
  symlinkSync(repositoryRoot, join(modules, "colloquy"));
  runNode([join(repositoryRoot, "node_modules/typescript/bin/tsc"), "-p", "."], cwd);
  const serve = ["serve", "--store", "memory", "--port", "0"];
  const server = spawn(process.execPath, [builtCliPath, ...serve], {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    const output = runNode([builtCliPath, "send", await readServerUrl(server.stderr), "Ada"], cwd);
    if (!output.includes("Hello, Ada!")) throw new Error(`The agent of a new project answered: ${output}`);
  } finally {
    server.kill("SIGKILL");
  }
}

function runNode(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} exited with ${status}: ${stdout}${stderr}`);
  return stdout;
}
