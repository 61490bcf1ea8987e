/**
 * Runs a lab, or lists all labs with their times and needs.
 *
 *   npm run lab                     lists the labs
 *   npm run lab -- NAME [ARG …]     runs one; `--help` of a lab describes its options
 *   npm run lab -- --json           lists the labs as JSON
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { GROUPS, LABS, type Lab } from "./labs.ts";
import { runProgramOrExit } from "./support/run-program.ts";

const repositoryRoot = fileURLToPath(new URL("..", import.meta.url));

function formatLabs(): string {
  const width = Math.max(...LABS.map(({ name }) => name.length));
  const lines = GROUPS.flatMap((group) => [
    group,
    ...LABS.filter((lab) => lab.group === group).flatMap(({ name, summary, time, needs }) => [
      `  ${name.padEnd(width)}  ${summary}`,
      `  ${"".padEnd(width)}  ${time}${needs === undefined ? "" : `; needs ${needs}`}`,
    ]),
    "",
  ]);
  return `Usage: npm run lab -- NAME [ARG …]\n\n${lines.join("\n")}`;
}

/** Runs the program of a lab with this terminal, and ends with its exit code. */
function runLab(lab: Lab, args: readonly string[]): void {
  const subcommand = lab.subcommands?.[args[0] ?? ""];
  const [program, ...firstArgs] = subcommand ?? lab.run;
  if (lab.usesBuild) runProgramOrExit("npm", ["run", "--silent", "build"]);
  const child = spawn(process.execPath, [program, ...firstArgs, ...(subcommand ? args.slice(1) : args)], {
    cwd: repositoryRoot,
    stdio: "inherit",
  });
  // A lab stops its servers and processes itself before it ends. The terminal sends Ctrl+C to both processes.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => signal === "SIGTERM" && child.kill(signal));
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 128);
  });
}

const [name, ...args] = process.argv.slice(2);
const lab = LABS.find((candidate) => candidate.name === name);
if (lab) runLab(lab, args);
else if (name === undefined || name === "--help") console.log(formatLabs());
else if (name === "--json") console.log(JSON.stringify(LABS, null, 2));
else {
  console.error(`error: no lab has the name "${name}". Run \`npm run lab\` for the list.`);
  process.exitCode = 2;
}
