/**
 * Uses a tarball like a user without a network: a new folder, five commands, a streaming agent. Then compiles a program
 * with two versions of TypeScript and each of their module resolutions. The script needs no dependencies, so that CI
 * runs it on each version of Node.js and on each operating system.
 *
 *   node lab/package/try-package.mjs FOLDER_OF_THE_TARBALL
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";

const isWindows = process.platform === "win32";
const [folder = "reports/package"] = process.argv.slice(2);
const [tarball] = readdirSync(folder)
  .filter((file) => file.endsWith(".tgz"))
  .map((file) => resolve(folder, file));
if (tarball === undefined) throw new Error(`${folder} contains no tarball. Run npm run lab -- package.`);
const temporary = mkdtempSync(join(tmpdir(), "colloquy-try-"));
const cache = join(temporary, "cache");
/**
 * The newest version of TypeScript, and the oldest one that docs/stability.md names. Both packages have a `tsc`. The
 * versions have no `^`, which cmd.exe removes.
 */
const COMPILERS = {
  typescript: "typescript@7",
  "typescript-5.9": "typescript-5.9@npm:typescript@~5.9.0",
};
const TOOLS = [...Object.values(COMPILERS), "@types/node@24"];

try {
  console.log(`Node.js ${process.version} on ${process.platform}`);
  // The only step with a network. It fills npm's cache with the dependencies.
  run(createFolder("warm"), "npm", ["install", tarball, ...TOOLS]);
  await tryFiveCommands();
  tryModuleResolutions();
  console.log("The package works from an empty folder.");
} finally {
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
}

async function tryFiveCommands() {
  const tools = createFolder("tools");
  run(tools, "npm", ["install", "--offline", tarball]);
  run(tools, "npx", ["colloquy", "init", "../hello"]);
  const project = join(temporary, "hello");
  run(project, "npm", ["install", "--offline"]);
  const server = start(project, "npm", ["start"]);
  try {
    const url = await server.waitForUrl();
    const streamed = run(project, "npx", ["colloquy", "send", url, "Ada", "--stream"]);
    expect(streamed, "Hello, Ada!");
    expect(streamed, "TASK_STATE_COMPLETED");
    console.log("A new folder became a streaming agent in five commands, offline.");
  } finally {
    server.stop();
  }
}

function tryModuleResolutions() {
  const folder = createFolder("types");
  run(folder, "npm", ["install", "--offline", tarball, ...TOOLS]);
  const program = new URL("../../test/interop/user/every-entry-point.ts", import.meta.url);
  writeFileSync(join(folder, "agent.ts"), readFileSync(program));
  for (const [module, moduleResolution] of [
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = {
      target: "es2022",
      // What a project without further settings has.
      module,
      moduleResolution,
      types: ["node"],
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["agent.ts"] }));
    for (const compiler of Object.keys(COMPILERS)) {
      const { version } = JSON.parse(
        readFileSync(join(folder, `node_modules/${compiler}/package.json`), "utf8"),
      );
      run(folder, process.execPath, [join("node_modules", compiler, "bin/tsc"), "-p", "."]);
      console.log(
        `The types compile with TypeScript ${version}, moduleResolution ${moduleResolution}, and skipLibCheck: false.`,
      );
    }
  }
}

/** @param {string} name */
function createFolder(name) {
  const path = join(temporary, name);
  mkdirSync(path);
  writeFileSync(join(path, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  return path;
}

/**
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function run(cwd, command, args) {
  console.log(`$ ${command} ${args.join(" ").replaceAll(temporary, "…")}`);
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: createEnv(),
    encoding: "utf8",
    shell: isWindows,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}

/**
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function start(cwd, command, args) {
  console.log(`$ ${command} ${args.join(" ")} &`);
  const child = spawn(command, args, { cwd, env: createEnv(), shell: isWindows, detached: !isWindows });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => void (output += text));
  return {
    /** @returns {Promise<string>} */
    waitForUrl: () =>
      new Promise((resolve, reject) => {
        const deadline = setTimeout(() => reject(new Error(`The server did not start:\n${output}`)), 60_000);
        child.once("exit", () => {
          clearTimeout(deadline);
          reject(new Error(`The server ended:\n${output}`));
        });
        const poll = () => {
          const [url] = /http:\/\/127\.0\.0\.1:\d+\/a2a\/[\w-]+/.exec(output) ?? [];
          if (url === undefined || !output.includes("Ctrl-C stops it.")) return;
          clearTimeout(deadline);
          resolve(url);
        };
        for (const stream of [child.stdout, child.stderr]) stream.on("data", poll);
      }),
    stop: () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      // npm and its shell are parents of the server, so that the signal goes to the group.
      if (isWindows) spawnSync("taskkill", ["/pid", String(child.pid), "/t", "/f"]);
      else process.kill(-child.pid, "SIGTERM");
    },
  };
}

/** The variables of npm that started this script, such as its cache, must not reach the npm of the user. */
function createEnv() {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name));
  return { ...Object.fromEntries(inherited), npm_config_cache: cache, npm_config_audit: "false", PORT: "0" };
}

/**
 * @param {string} text
 * @param {string} part
 */
function expect(text, part) {
  if (!text.includes(part)) throw new Error(`Expected "${part}" in:\n${text}`);
}
