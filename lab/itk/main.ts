/**
 * Runs the official integration test kit (a2aproject/a2a-itk), unchanged, with the agent under test as its
 * mounted agent and the kit's agents as peers. It requires `uv` and Python 3.11, and for the peers Go, npm, Maven, and
 * Cargo with protoc. The first run installs the peers. A peer that cannot be installed is reported, and its scenarios
 * do not run. A failed scenario fails the run.
 *
 *   npm run lab -- itk --path PATH [--only TEXT] [--verbose]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ITK_PEERS, ITK_SCENARIOS, type ItkScenario } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    path: { type: "string" },
    only: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
  },
});
if (values.path === undefined || !existsSync(join(values.path, "itk_service.py"))) {
  exitWithError(
    "Pass the folder of the kit with --path: git clone https://github.com/a2aproject/a2a-itk itk, then npm run lab -- itk --path itk",
  );
}
const kitFolder = resolve(values.path);
const scenarios = ITK_SCENARIOS.filter(({ name }) => name.includes(values.only));
if (scenarios.length === 0) {
  exitWithError(
    `--only ${values.only} matches no scenario. Available scenarios:\n${ITK_SCENARIOS.map(({ name }) => name).join("\n")}`,
  );
}

// The Python packages are installed below, and `uv` must not resolve the lock files of the kit again.
const kitEnvironment = { ...process.env, UV_NO_SYNC: "1", PYTHONWARNINGS: "ignore" };

await installPythonPackages(".");
const missing: string[] = [];
for (const { sdk, folder, build } of ITK_PEERS.filter((peer) =>
  scenarios.some(({ sdks }) => sdks.includes(peer.sdk)),
)) {
  const problem = build
    ? await findProblem(build[0], build.slice(1), folder)
    : await installPythonPackages(folder);
  if (problem === undefined) continue;
  missing.push(sdk);
  console.log(`not run ${sdk}: ${problem}`);
}

// A failed or interrupted run must not leave the mount or the service behind.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
await mountAgentUnderTest();
const serviceUrl = await startItkService();
const failed: string[] = [];
const runnable = scenarios.filter(({ sdks }) => !missing.some((sdk) => sdks.includes(sdk)));
for (const scenario of runnable) {
  const problem = await runScenario(serviceUrl, scenario);
  console.log(
    `${problem === undefined ? "passed" : "FAILED"}  ${scenario.name}${problem ? `: ${problem}` : ""}`,
  );
  if (problem !== undefined) failed.push(scenario.name);
}
console.log(`${runnable.length - failed.length} of ${runnable.length} scenarios passed`);
process.exit(failed.length === 0 ? 0 : 1);

/**
 * Installs the exact versions of the kit's lock file. `uv sync` would download them from the private registry
 * of the lock file.
 */
async function installPythonPackages(folder: string): Promise<undefined> {
  if (existsSync(join(kitFolder, folder, ".venv/installed"))) return;
  console.log(`installing the Python packages of ${folder} …`);
  const requirements = join(kitFolder, folder, ".venv/requirements.txt");
  await runProgram("uv", ["venv", "--quiet", "--clear"], folder);
  const versions = ["--frozen", "--no-hashes", "--no-emit-project", "--output-file", requirements];
  await runProgram("uv", ["export", "--quiet", ...versions], folder);
  await runProgram("uv", ["pip", "install", "--quiet", "--requirements", requirements], folder);
  await writeFile(join(kitFolder, folder, ".venv/installed"), "");
}

async function runProgram(program: string, args: readonly string[], folder: string): Promise<void> {
  const problem = await findProblem(program, args, folder);
  if (problem !== undefined) exitWithError(problem);
}

/** Runs a program of the kit, and resolves with the problem if it failed. */
async function findProblem(
  program: string,
  args: readonly string[],
  folder: string,
): Promise<string | undefined> {
  const cwd = join(kitFolder, folder);
  const problem = await new Promise<string | undefined>((done) => {
    spawn(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] })
      .once("error", (error) => done(error.message))
      .once("exit", (code) => done(code === 0 ? undefined : `exit code ${code}`));
  });
  if (problem === undefined) return undefined;
  return `\`${program} ${args.join(" ")}\` failed in ${cwd} (${problem}). See its output above.`;
}

/**
 * Links `agents/repo`, where the kit expects the agent under test, to a temporary folder that starts the agent
 * of this repository. Removes both when the process exits.
 */
async function mountAgentUnderTest(): Promise<void> {
  const mount = join(kitFolder, "agents/repo");
  if (existsSync(mount))
    exitWithError(`${mount} already exists. Remove the folder, or use a fresh clone of the kit.`);
  const folder = await mkdtemp(join(tmpdir(), "colloquy-itk-"));
  process.once("exit", () => {
    rmSync(mount, { force: true });
    rmSync(folder, { recursive: true });
  });
  const sut = fileURLToPath(new URL("../sut/main.ts", import.meta.url));
  const command = [process.execPath, sut, "--allow-private-webhooks"]
    .map((text) => JSON.stringify(text))
    .join(" ");
  await mkdir(join(folder, "itk"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ scripts: { "itk-agent": command } }));
  await symlink(folder, mount);
}

/** Starts the kit's own service, which the workflows of the official SDKs use. Resolves with its URL. */
async function startItkService(): Promise<string> {
  const port = await findFreePort();
  const args = ["run", "uvicorn", "itk_service:app", "--host", "127.0.0.1", "--port", String(port)];
  const output = values.verbose ? "inherit" : "ignore";
  const child = spawn("uv", args, { cwd: kitFolder, env: kitEnvironment, stdio: ["ignore", output, output] });
  child.once("error", (error) => exitWithError(`\`uv\` could not start: ${error.message}. Install uv.`));
  process.once("exit", () => child.kill());
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 120; attempt++) {
    const isReady = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return url;
    await setTimeout(500);
  }
  return exitWithError(
    "The service of the kit did not start in a minute. Run the command with --verbose to see its output.",
  );
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Runs a scenario on its own cluster of agents. Resolves with the problem, or with `undefined` if it passed.
 * The kit waits only five seconds for its own webhook server, which may take longer on a busy machine.
 */
async function runScenario(
  serviceUrl: string,
  scenario: ItkScenario,
  attempts = 4,
): Promise<string | undefined> {
  const response = await fetch(`${serviceUrl}/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tests: [scenario] }),
  });
  const text = await response.text();
  if (/Notification server failed to start|failed SDK readiness check/.test(text) && attempts > 1)
    return await runScenario(serviceUrl, scenario, attempts - 1);
  if (!response.ok) return `HTTP ${response.status}: ${text.slice(0, 300)}`;
  const { all_passed: passed } = JSON.parse(text) as { all_passed: unknown };
  return passed === true ? undefined : "the trace lacks tokens; run with --verbose";
}

function exitWithError(line: string): never {
  console.error(line);
  process.exit(2);
}
